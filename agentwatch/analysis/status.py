"""What is going on, in words: one line that also says why it is quiet when it is quiet.

The most important comes first, because a narrow screen cuts the line at its end.
"""

from __future__ import annotations

import signal

from agentwatch.actions import target
from agentwatch.agent_facts import LATE_EXIT_MS, NO_FACTS, AgentFacts
from agentwatch.analysis.silence import (
    is_quiet,
    is_stalled,
    limit_ms,
    running_ms,
    silence_ms,
    since_ms,
    usual_call_ms,
    usual_silence_ms,
)
from agentwatch.events import Outcome
from agentwatch.plurals import plural
from agentwatch.safe_text import SafeText, columns, cut, safe_line
from agentwatch.session import Call, Phase, Session, usually_under

_WORTH_TELLING_MS = 5_000
"""A shorter wait is over before anybody asks."""
_CPU_AFTER_MS = 3_000
_TARGET_COLUMNS = 60
_TELLING_TARGET_COLUMNS = 16
_LEAST_TARGET_COLUMNS = 8
_NARROW_COLUMNS = 60
_ERROR_COLUMNS = 120
_MOST_PARALLEL = 100
_ALONE = "running "
_IN_THE_MIDDLE = {Phase.THINKING: " · in the middle of a thought", Phase.WRITING: " · it was writing"}


def status(
    session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS, room: int | None = None
) -> SafeText:
    """Return what the session is doing.

    Args:
        session: The session.
        now_ms: The time that it is for the session, by the clock of its arrival times.
        agent: What is known of the agent's process, where we started it.
        room: How many columns there are; where they are few the words are fewer. None is enough for all.
    """
    is_narrow = room is not None and room < _NARROW_COLUMNS
    phase = session.phase
    if phase is Phase.NOTHING:
        words = _over(session, now_ms, agent, is_narrow=is_narrow)
        return words if room is None else cut(words, room)
    doubt = "stalled? " if is_stalled(session, now_ms, agent) else ""
    cpu = _cpu(session, now_ms, agent, is_narrow=is_narrow)
    if phase is Phase.CALLING:
        words = _calling(session, now_ms, doubt, room, len(cpu))
    elif is_quiet(session, now_ms, agent):
        words = SafeText(f"{doubt}{_quiet(session, now_ms, agent, is_narrow=is_narrow)}")
    elif phase is Phase.THINKING:
        words = _thinking(session, now_ms)
    else:
        words = _waiting(session, now_ms)
    if room is None or columns(words) + len(cpu) <= room:
        return SafeText(f"{words}{cpu}")
    return cut(words, room)


def brief_clock(duration_ms: int) -> str:
    """Return a duration in whole seconds, `130 s`; from 200 s on in minutes, `3:20`, `1:02:13`."""
    seconds = duration_ms // 1000
    if seconds < 200:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _over(session: Session, now_ms: int | None, agent: AgentFacts, *, is_narrow: bool) -> SafeText:
    run = session.run
    words = []
    since_result = since_ms(run.ended.seen_ms if run.ended else None, now_ms)
    if agent.pid is not None and since_result is not None and since_result >= LATE_EXIT_MS:
        ago, process = brief_clock(since_result), f"process {agent.pid}"
        words.append(
            f"{process} alive {ago} after result"
            if is_narrow
            else f"result came {ago} ago, {process} still alive"
        )
    if session.outcome is Outcome.SUCCEEDED:
        words.append("succeeded")
    elif session.outcome is Outcome.FAILED:
        reason = (run.result or "").strip().partition("\n")[0] or "no reason given"
        words.append(f"failed: {cut(safe_line(reason), _ERROR_COLUMNS)}")
    else:
        words.append("no result" if is_narrow else "ended without a result")
    is_explained = session.outcome is Outcome.SUCCEEDED or bool(run.result)
    if agent.exit_code:
        words.append(f"exit {agent.exit_code}{_signal(agent.exit_code)}")
    elif agent.exit_code == 0 and session.outcome is Outcome.UNFINISHED:
        words.append("exit 0")
    if agent.stderr and not is_explained:
        words.append(f"stderr: {cut(safe_line(agent.stderr.strip()), _ERROR_COLUMNS)}")
    if session.outcome is Outcome.UNFINISHED and session.never_completed:
        words.append(f"{plural(session.never_completed, 'call')} never completed")
    if session.outcome is Outcome.SUCCEEDED and session.failed_calls:
        words.append(f"{plural(session.failed_calls, 'call')} failed on the way")
    return SafeText(" · ".join(words))


def _quiet(session: Session, now_ms: int | None, agent: AgentFacts, *, is_narrow: bool) -> SafeText:
    silence = silence_ms(session, now_ms, agent) or 0
    for_long = f"{'' if is_narrow else 'for '}{brief_clock(silence)}"
    lacking = "no open call" if session.runs else "no event yet"
    usual = _usually(silence, usual_silence_ms(session))
    return SafeText(f"quiet {for_long}, {lacking}{usual}{_IN_THE_MIDDLE.get(session.phase, '')}")


def _thinking(session: Session, now_ms: int | None) -> SafeText:
    rhythm = session.rhythm
    thought = since_ms(rhythm.began_ms if rhythm.phase is Phase.THINKING else None, now_ms)
    usual_ms = usually_under(rhythm.thoughts)
    return SafeText(f"thinking{_worth_telling(thought)}{_usually(thought, usual_ms)}")


def _waiting(session: Session, now_ms: int | None) -> SafeText:
    silence = silence_ms(session, now_ms)
    usual = _usually(silence, usual_silence_ms(session))
    if not session.runs:
        return SafeText("waiting for the first event")
    if session.phase is Phase.WRITING:
        return SafeText(f"writing{_worth_telling(silence, 'quiet for ')}{usual}")
    return SafeText(f"waiting for the model{_worth_telling(silence)}{usual}")


def _calling(
    session: Session, now_ms: int | None, doubt: str, room: int | None, cpu_columns: int
) -> SafeText:
    """Tell the open call that is over its limit by most, or else the oldest; and how many there are.

    What the call is about makes room for its time, and where enough of it is left for the CPU as well.
    """
    is_narrow = room is not None and room < _NARROW_COLUMNS
    calls = list(session.open_calls.values())
    told = max(calls, key=lambda call: _over_limit_ms(call, now_ms))
    lead = _lead(session, calls, told, is_narrow=is_narrow)
    time = _time(session, told, now_ms, is_narrow=is_narrow)
    if time:
        time = f" · {time}" if lead == _ALONE else f" {time}"
    if doubt:
        lead = doubt if is_narrow and lead == _ALONE else f"{doubt}{lead}"
    left = _TARGET_COLUMNS if room is None else room - len(lead) - len(time)
    if room is not None and left - cpu_columns >= _TELLING_TARGET_COLUMNS:
        left -= cpu_columns
    about = _about(told, min(max(left, _LEAST_TARGET_COLUMNS), _TARGET_COLUMNS))
    return SafeText(f"{lead}{about}{time}")


def _over_limit_ms(call: Call, now_ms: int | None) -> int:
    running, limit = running_ms(call, now_ms), limit_ms(call)
    return 0 if running is None or limit is None else max(running - limit, 0)


def _lead(session: Session, calls: list[Call], told: Call, *, is_narrow: bool) -> str:
    """Return what stands before the call: of calls of one model step how many there were and are left."""
    if told.group is not None and all(call.group == told.group for call in calls):
        near = session.calls[max(told.number - _MOST_PARALLEL, 0) : told.number + _MOST_PARALLEL]
        of_step = sum(1 for call in near if call.group == told.group and call.run == told.run)
        were = max(of_step, len(calls))
        if were > 1:
            return (
                f"{len(calls)} of {were} left: "
                if is_narrow
                else f"{were} parallel calls, {len(calls)} left: "
            )
    if len(calls) == 1:
        return _ALONE
    which = "the oldest" if told is calls[0] else "one late"
    return f"{len(calls)} calls, {which}: " if is_narrow else f"{len(calls)} parallel calls, {which}: "


def _time(session: Session, call: Call, now_ms: int | None, *, is_narrow: bool) -> str:
    """Return how long a call has been running, and how that is to be taken."""
    running, limit = running_ms(call, now_ms), limit_ms(call)
    if running is None:
        return ""
    time = brief_clock(running)
    if limit is None:
        return time + _usually(running, usual_call_ms(session, call))
    if running >= limit + 1000:
        return f"{time}, {brief_clock(running - limit)} over{'' if is_narrow else ' its limit'}"
    return f"{time} of {brief_clock(limit)}" if is_narrow else f"{time} of its {brief_clock(limit)} limit"


def _about(call: Call, room: int) -> SafeText:
    """Return a call's tool and target in so many columns: of a path the end stays, which names the file."""
    words = target(call)
    if call.tool == "shell" and words:
        return cut(words, room)
    tool = cut(safe_line(call.tool), room if not words else max(room // 2, _LEAST_TARGET_COLUMNS))
    left = room - columns(tool) - 1
    if not words or left < _LEAST_TARGET_COLUMNS // 2:
        return tool
    if call.path is None or columns(words) <= left:
        return SafeText(f"{tool} {cut(words, left)}")
    while columns(words) >= left:
        words = SafeText(words[1:])
    return SafeText(f"{tool} …{words}")


def _worth_telling(length_ms: int | None, lead: str = "") -> str:
    """Return ` · 14 s` of a length that somebody would ask for; else nothing."""
    if length_ms is None or length_ms < _WORTH_TELLING_MS:
        return ""
    return f" · {lead}{brief_clock(length_ms)}"


def _usually(length_ms: int | None, usual_ms: int | None) -> str:
    """Return ` (usually under 9)` of a length that is longer than usual by whole seconds; else nothing."""
    if length_ms is None or usual_ms is None or length_ms < _WORTH_TELLING_MS:
        return ""
    usual_seconds = usual_ms // 1000 + 1
    if length_ms // 1000 <= usual_seconds:
        return ""
    usual = str(usual_seconds) if usual_seconds < 200 else brief_clock(usual_seconds * 1000)
    return f" (usually under {usual})"


def _cpu(session: Session, now_ms: int | None, agent: AgentFacts, *, is_narrow: bool) -> str:
    """Return whether the agent's processes do something while it is silent."""
    silence = silence_ms(session, now_ms, agent)
    if agent.uses_cpu is None or silence is None or silence < _CPU_AFTER_MS:
        return ""
    if is_narrow:
        return " · uses CPU" if agent.uses_cpu else " · idle"
    return " · its processes use CPU" if agent.uses_cpu else " · its processes are idle"


def _signal(exit_code: int) -> str:
    """Return the name of the signal that an exit code stands for, ` (SIGKILL)`; otherwise nothing."""
    try:
        return f" ({signal.Signals(exit_code - 128).name})"
    except ValueError:
        return ""
