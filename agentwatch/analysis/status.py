"""A run in words: the figures of the header, why it did not succeed, what it waits for, and the status line.

The most important words of a line come first, because a narrow screen truncates the line at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.analysis.silence import (
    is_quiet,
    is_stalled,
    limit_ms,
    running_ms,
    silence_ms,
    since_ms,
    usual_call_ms,
    usual_silence_ms,
    waits_for_subagents,
)
from agentwatch.session.actions import count_words, shown_action, shown_tool, target
from agentwatch.session.agent_process import LATE_EXIT_MS, NO_FACTS, AgentFacts, exit_words
from agentwatch.session.call import Call
from agentwatch.session.counts import usually_under
from agentwatch.session.events import Outcome, Tokens, ToolKind
from agentwatch.session.session import Phase, Session, calls_by_outcome
from agentwatch.text.amounts import dollars, one_line, short_count
from agentwatch.text.durations import countdown, duration_words, running_clock
from agentwatch.text.safe import SafeText, columns, cut, exact_line, safe_line
from agentwatch.text.signs import ASKS_SIGN

if TYPE_CHECKING:
    from agentwatch.session.rules import Question


_MOST_SHOWN = 10**12
"""A larger count is not a real one, and is not shown."""


def turn_words(turns: int) -> SafeText | None:
    """Return the number of the turn from the second one on: `turn 3`; None in the first turn."""
    return SafeText(f"turn {turns:,}") if turns > 1 else None


def figures(tokens: Tokens) -> Iterator[SafeText]:
    """Yield the tokens, the context and the cost that the agent reports.

    Examples: `in 124k out 3.2k`, `ctx 62 %`, `$0.41`.
    """
    counts = (("in", tokens.input), ("out", tokens.output))
    if words := " ".join(f"{name} {short_count(count)}" for name, count in counts if _is_shown(count)):
        yield SafeText(words)
    if (context := context_words(tokens)) is not None:
        yield context
    cost = tokens.cost_usd
    if cost is not None and isfinite(cost) and 0 <= cost < _MOST_SHOWN:
        yield SafeText(dollars(cost))


def context_words(tokens: Tokens) -> SafeText | None:
    """Return the share of the context that is used, or its size; None if it is not reported."""
    used, size = tokens.context_used, tokens.context_size
    if used is None or not _is_shown(used):
        return None
    is_share = size is not None and size > 0
    return SafeText(f"ctx {100 * used // (size or 1)} %" if is_share else f"ctx {short_count(used)}")


def _is_shown(count: int | None) -> bool:
    return count is not None and 0 <= count < _MOST_SHOWN


# Why a run did not succeed, and what can be done about a stream of no known agent.

_EDITS = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
_MOST_JUDGED = 1000
"""The status line does not read more calls than this whenever it is drawn."""
_MOST_COLUMNS = 1000
"""A result may be megabytes long; a line on stderr is for a person."""
_FIRST_LINE_COLUMNS = 60
_LEAST_FIRST_LINE_COLUMNS = 12
_UNKNOWN = "not a stream of an agent that this version knows"
_FOR_TEXT = "add --output-format stream-json to the agent's command"
_ENDINGS = {Outcome.FAILED: "the run failed", Outcome.CANCELLED: "the run was cancelled"}
_FOR_JSON = "try --format NAME, or agentwatch doctor FILE"
_FOR_AUTHORS = ", or add a format: docs/plugins.md"


class Reason(NamedTuple):
    """Why a run did not succeed, as the agent wrote it."""

    text: str
    is_stderr: bool = False
    """Whether it is the last line of the agent's stderr."""


def reason(session: Session, agent: AgentFacts) -> Reason | None:
    """Return the best explanation why the last run did not succeed: the result, the last error, the last line
    that is not JSON (such as Cursor's `RetriableError: …`), or the last of stderr. None without any of
    these."""
    if session.outcome not in (Outcome.FAILED, Outcome.CANCELLED, Outcome.UNFINISHED):
        return None
    if session.outcome is session.result_outcome:  # otherwise the result is an answer
        result = session.run.result_part(0, _MOST_COLUMNS)
        found = (each.strip() for each in (result, session.last_error, session.lines.last_text))
        if text := next(filter(None, found), ""):
            return Reason(text)
    return Reason(agent.stderr.strip(), is_stderr=True) if agent.stderr else None


def ending(session: Session, agent: AgentFacts, nothing: str = "") -> SafeText | None:
    """Return how a session that did not succeed ended: `the run failed: rate limit`; None if nothing is
    wrong. `nothing` says why there was nothing to read; it is empty if there was something."""
    outcome, code = session.outcome, _exit_words(session)
    if outcome is None:
        return unknown_agent(session)
    if outcome is Outcome.RUNNING or outcome is Outcome.SUCCEEDED:
        return None
    if outcome is Outcome.UNFINISHED and not session.traits.has_result and not code:
        return None
    words = "the stream ended without a result" if session.traits.has_result else "the run ended"
    words = nothing or _ENDINGS.get(outcome, words)
    words = f"{words}, {code}" if code else words
    why = reason(session, agent)
    if why is None:
        is_unexplained = session.result_outcome is Outcome.FAILED
        return SafeText(f"{words}: no reason given" if is_unexplained else words)
    return SafeText(f"{words}: {cut(safe_line(why.text), _MOST_COLUMNS)}")


def _exit_words(session: Session) -> str:
    """Return `exit 1` or `exit 3 · result says ✓`; empty for 0 and for an unknown exit code."""
    is_said = session.outcome is session.result_outcome
    return exit_words(session.exit_code) if is_said else session.outcome_words


def rejected_edits(session: Session) -> SafeText | None:
    """Return why all edits were rejected, if the agent does that by itself; None if one was not."""
    why = session.traits.rejected_edits
    if not why or not session.ended_by_outcome[Outcome.REJECTED] or len(session.calls) > _MOST_JUDGED:
        return None
    edits = 0
    for call in reversed(session.calls):  # nearly always, the last edits were made
        if call.kind in _EDITS:
            if call.outcome is not Outcome.REJECTED:
                return None
            edits += 1
    return (
        SafeText(f"{'the only edit was' if edits == 1 else 'all edits were'} rejected: {why}")
        if edits
        else None
    )


def unknown_agent(session: Session, width: int | None = None) -> SafeText:
    """Return that no known agent wrote the stream, how it begins, and what to do. `width` is None for no
    limit. In few columns the first line is shortened or left out, because what to do matters more."""
    lines = session.lines
    if not lines.total:
        return SafeText("no line was read")
    is_text = not lines.unknown and not lines.first_text.startswith(("{", "["))
    advice = f": {_FOR_TEXT if is_text else _FOR_JSON + _FOR_AUTHORS}"
    if width is not None and width < len(f"unknown format{advice}"):
        advice = advice.removesuffix(_FOR_AUTHORS)
    room = _FIRST_LINE_COLUMNS
    if width is not None:
        room = min(room, width - len(f"{_UNKNOWN} (first line: ){advice}"))
    if room >= _LEAST_FIRST_LINE_COLUMNS:
        return SafeText(f"{_UNKNOWN} (first line: {cut(safe_line(lines.first_text), room)}){advice}")
    is_short = width is not None and width < len(_UNKNOWN + advice)
    return SafeText(f"{'unknown format' if is_short else _UNKNOWN}{advice}")


# What a session waits for besides its calls and the model: an answer, a compaction, a retry.


class Wait(NamedTuple):
    """The wait of a session, or of an open call, for the user."""

    words: str
    """`waits for your permission`, or `waits for your answer`."""
    since_ms: int | None
    """The time of the question, by the clock of the arrival times; None if unknown."""
    until_ms: int | None = None
    """The time at which the agent answers by itself, by the same clock; None if it does not."""

    def clock(self, now_ms: int | None) -> str:
        """Return how long it waits, `3:03`; empty if it is unknown."""
        waited = since_ms(self.since_ms, now_ms)
        return "" if waited is None else running_clock(waited)


class Waited(NamedTuple):
    wait: Wait | None = None
    now_ms: int | None = None
    """The present time by the clock of the arrival times; None if unknown."""

    def words(self) -> SafeText:
        """Return the wait, such as `! asks 3:03 · waits for your permission`; empty if there is none."""
        if self.wait is None:
            return SafeText("")
        state = f"{ASKS_SIGN} asks {self.wait.clock(self.now_ms)}".rstrip()
        return SafeText(f"{state} · {self.wait.words}")


NO_WAIT = Waited()
Waits = Mapping[int, Wait]
"""The waits for the user, by the number of the open call."""
NO_WAITS: Waits = MappingProxyType({})
_PERMISSION, _ANSWER = "waits for your permission", "waits for your answer"
_ABOUT_PERMISSION = "permission"
"""The word in an agent's message that asks for a permission without naming the call."""
_NAMED = 60
"""The first characters of a question by which its call is found. The list cuts a longer one."""


def user_wait(session: Session, agent: AgentFacts = NO_FACTS, waits: Waits = NO_WAITS) -> Wait | None:
    """Return what a session waits for, if it waits for the user: by its stream, or else by the agent's word.
    What the agent says is about one of `waits`, the open calls that wait for the user, if there is one."""
    if session.questions and session.phase is not Phase.NOTHING:
        return next(_wait(key, question) for key, question in session.questions.by_key.items())
    if session.questions or not agent.asks:
        return None
    what = _PERMISSION if agent.asks == _ABOUT_PERMISSION else _ANSWER
    return next(iter(waits.values()), Wait(what, agent.asks_since_ms))


def waiting_calls(session: Session, agent: AgentFacts = NO_FACTS) -> Waits:
    """Return the open calls that wait for the user. A question that names no call, in the stream or outside
    it, belongs to the newest open call of the main agent."""
    if not session.open_calls or not (session.questions or agent.asks):
        return NO_WAITS
    calls = [*session.open_calls.values()]
    newest = next((call for call in reversed(calls) if call.parent_call is None), None)
    if not session.questions:
        named = next((call for call in reversed(calls) if _is_named(call, agent.asks)), None)
        asks = newest if named is None else named
        what = _ANSWER if named is None and agent.asks != _ABOUT_PERMISSION else _PERMISSION
        return NO_WAITS if asks is None else {asks.number: Wait(what, agent.asks_since_ms)}
    waits = {question.call_id: _wait(key, question) for key, question in session.questions.by_key.items()}
    found = {call.number: waits[call.call_id] for call in calls if call.call_id in waits}
    if None in waits and newest is not None:
        found.setdefault(newest.number, waits[None])
    return found


def _wait(key: str, question: Question) -> Wait:
    """Return what a question waits for. One that has the key of its call is a call that asks something."""
    at_ms = question.at_ms if question.place.seen_ms is None else question.place.seen_ms
    return Wait(_ANSWER if key == question.call_id else _PERMISSION, at_ms, question.until_ms)


def _is_named(call: Call, question: str) -> bool:
    words = f"{call.tool} {one_line(call.target or '')}"
    return bool(call.target) and question.startswith(words[:_NAMED])


_QUESTION_COLUMNS = 60
_MESSAGE_COLUMNS = 40


def _waiting_words(session: Session, now_ms: int | None) -> SafeText | None:
    """Return what the session waits for: `asks: Bash rm -rf build · 0:14`, `compacting the context · 0:20` or
    `retry 4 of 10: overloaded · next in 0:08`; None if it waits for none of these."""
    question = session.questions.oldest
    if question is not None:
        more = f" (and {len(session.questions) - 1} more)" if len(session.questions) > 1 else ""
        asked_ms = question.place.seen_ms if question.place.seen_ms is not None else question.at_ms
        if left := countdown(question.until_ms, now_ms):
            more = f"{more} · answers itself in {left}"
        return _asking_words(question.words, asked_ms, now_ms, more)
    if session.compacting is not None:
        _, place = session.compacting
        return SafeText(f"compacting the context{_since(place.seen_ms, now_ms)}")
    return None if session.retry is None else _retry(session, now_ms)


def limit_words(session: Session, now_ms: int | None) -> SafeText | None:
    """Return `waits for the limit until 14:00` if a usage limit is why nothing happens; None otherwise."""
    limits = session.limits
    if now_ms is None or session.is_closed or not limits.waits(now_ms):
        return None
    if session.phase is not Phase.WAITING and session.outcome is not Outcome.FAILED:
        return None
    return SafeText(limits.words(now_ms))


def _asking_words(question: str, asked_ms: int | None, now_ms: int | None, more: str = "") -> SafeText:
    """Return what the agent asks, in foreign words, and since when, by the clock of `now_ms`."""
    words = cut(exact_line(question), _QUESTION_COLUMNS)
    return SafeText(f"asks: {words}{more}{_since(asked_ms, now_ms)}")


def _retry(session: Session, now_ms: int | None) -> SafeText | None:
    if session.retry is None or session.open_calls:
        return None
    event, place = session.retry
    nth = "" if event.attempt is None else f" {event.attempt}"
    most = "" if event.most_attempts is None or not nth else f" of {event.most_attempts}"
    message = cut(safe_line(event.message), _MESSAGE_COLUMNS)
    words = f"retry{nth}{most}{f': {message}' if message else ''}"
    waited = since_ms(place.seen_ms, now_ms)
    if event.delay_ms is None or waited is None:
        return SafeText(f"{words}{_since(place.seen_ms, now_ms)}")
    if waited < event.delay_ms:
        return SafeText(f"{words} · next in {running_clock(event.delay_ms - waited + 999)}")
    return SafeText(f"{words} · {running_clock(waited - event.delay_ms)}")


def _since(then_ms: int | None, now_ms: int | None) -> str:
    passed = since_ms(then_ms, now_ms)
    return "" if passed is None else f" · {running_clock(passed)}"


# The status line: the activity of the session, and, if it is quiet, the likely reason.

_LEAST_SHOWN_MS = 5_000
"""Shorter durations are not shown: such a wait is over before it is of interest."""
_SILENT_PIPE_MS = 20_000
"""The first line of a stream takes about 8 s."""
_CPU_AFTER_MS = 3_000
"""CPU use is shown only after a silence of this length."""
_TARGET_COLUMNS = 60
_USEFUL_TARGET_COLUMNS = 16
"""CPU use is omitted if it would leave fewer columns for the target."""
_LEAST_TARGET_COLUMNS = 8
_NARROW_COLUMNS = 60
_ERROR_COLUMNS = 120
_RULE_COLUMNS = 80
_MOST_PARALLEL = 100
_ONE_CALL = "running "
_IN_THE_MIDDLE = {Phase.THINKING: " · while thinking", Phase.WRITING: " · while writing"}


def status(
    session: Session,
    now_ms: int | None,
    agent: AgentFacts = NO_FACTS,
    width: int | None = None,
    *,
    is_below_header: bool = False,
) -> SafeText:
    """Return a line that describes what the session is doing, or how it ended.

    Examples: `running pytest -q · 0:12 of its 2:00 limit`, `thinking · 0:14 (usually under 0:09)`,
    `3 parallel calls, 2 left: grep TODO 0:07`, `stalled? quiet for 3:20, no open call`,
    `failed: rate limit · exit 1`, `succeeded in 16.7 s · 4 calls, 4 rejected`. Without `now_ms`, the line
    contains no durations; in a replay, it is the recorded time. `width` is in columns, None for no limit;
    fewer than 60 result in shorter words. A line that `is_below_header` leaves out the outcome, the duration,
    the counts of calls and the clock of a question, and does not cut a question at 60 columns.
    """
    words = _stated(session, now_ms, agent, width, is_below_header=is_below_header)
    if words is None:
        is_narrow = width is not None and width < _NARROW_COLUMNS
        stall_mark = "stalled? " if is_stalled(session, now_ms, agent) else ""
        cpu = _cpu(session, now_ms, agent, is_narrow=is_narrow)
        if session.phase is Phase.CALLING:
            words = _calling(session, now_ms, stall_mark, width, len(cpu))
        elif is_quiet(session, now_ms, agent):
            words = SafeText(f"{stall_mark}{_quiet(session, now_ms, agent, is_narrow=is_narrow)}")
        elif session.phase is Phase.THINKING:
            words = _thinking(session, now_ms)
        else:
            words = _waiting(session, now_ms, agent)
        if width is None or columns(words) + len(cpu) <= width:
            return SafeText(f"{words}{cpu}")
    return words if width is None else cut(words, width)


def _stated(
    session: Session, now_ms: int | None, agent: AgentFacts, width: int | None, *, is_below_header: bool
) -> SafeText | None:
    """Return what the session waits for besides its calls and the model, or how it ended; None otherwise."""
    if is_below_header and (question := open_question(session, agent)):
        return question
    if agent.paused_by:
        return SafeText(f'paused by rule "{cut(safe_line(agent.paused_by), _RULE_COLUMNS)}"')
    if agent.asks and not session.questions:
        return _asking_words(agent.asks, agent.asks_since_ms, now_ms)
    if (limited := limit_words(session, now_ms)) is not None:
        why = reason(session, agent)
        return SafeText(f"{limited} · {_shortened(why.text)}" if why else limited)
    if session.phase is Phase.NOTHING:
        return _over(session, now_ms, agent, width, is_below_header=is_below_header)
    if agent.is_stopped:
        return SafeText(f"stopped by a signal, kill -CONT {agent.pid} resumes it")
    return _waiting_words(session, now_ms)


def open_question(session: Session, agent: AgentFacts) -> SafeText:
    """Return what waits for the user: `Wants to run make (and 2 more)`, or the question; or nothing."""
    waits = waiting_calls(session, agent)
    wait = user_wait(session, agent, waits)
    if wait is None or agent.paused_by:
        return SafeText("")
    more = f" (and {len(session.questions) - 1} more)" if len(session.questions) > 1 else ""
    asked = session.questions.oldest
    words = exact_line(agent.asks if asked is None else asked.words)
    if words == _ABOUT_PERMISSION:
        words = SafeText(wait.words)
    number = next((number for number, each in waits.items() if each == wait), None)
    if number is not None and wait.words == _PERMISSION:
        words = SafeText(shown_action(session.calls[number - 1], wait.words).removesuffix(f" ({wait.words})"))
    return SafeText(f"{words}{more}")


def _over(
    session: Session, now_ms: int | None, agent: AgentFacts, width: int | None, *, is_below_header: bool
) -> SafeText:
    is_narrow = width is not None and width < _NARROW_COLUMNS
    run = session.run
    words = []
    since_result = since_ms(run.ended.seen_ms if run.ended else None, now_ms)
    if agent.pid is not None and since_result is not None and since_result >= LATE_EXIT_MS:
        ago, process = running_clock(since_result), f"process {agent.pid}"
        words.append(
            f"{process} alive {ago} after result"
            if is_narrow
            else f"result came {ago} ago, {process} still alive"
        )
    outcome, advice = session.outcome, None
    why = reason(session, agent)
    reason_words = "" if why is None or why.is_stderr else f": {_shortened(why.text)}"
    if outcome is None:
        after = f" · {exit_words(session.exit_code)}" if session.exit_code else ""
        words.append(unknown_agent(session, None if width is None else width - len(after)))
    elif outcome is not session.result_outcome:
        words.append("" if is_below_header else session.outcome_words)
    elif is_below_header and outcome is not Outcome.UNFINISHED:
        advice = rejected_edits(session) if outcome is Outcome.SUCCEEDED else None
        unknown = "no reason given" if outcome is Outcome.FAILED else ""
        words.append(reason_words.removeprefix(": ") or unknown)
    elif outcome is Outcome.SUCCEEDED:
        took = "" if session.duration_ms is None else f" in {duration_words(session.duration_ms)}"
        words.append(f"succeeded{took}")
        advice = rejected_edits(session)
    elif outcome is Outcome.FAILED:
        words.append(f"failed{reason_words or ': no reason given'}")
    elif outcome is Outcome.CANCELLED:
        words.append(f"cancelled{reason_words}")
    elif session.traits.has_result:
        words.append(f"{'no result' if is_narrow else 'ended without a result'}{reason_words}")
    else:
        words.append(reason_words.removeprefix(": ") if is_below_header else f"ended{reason_words}")
    if outcome is session.result_outcome:
        words.append(exit_words(session.exit_code))
    if session.exit_code == 0 and outcome is Outcome.UNFINISHED:
        words.append("exit 0")
    if why is not None and why.is_stderr:
        words.append(f"stderr: {_shortened(why.text)}")
    if session.calls and not is_below_header:
        words.append(", ".join(count_words(calls_by_outcome(session))))
    if advice is not None:
        words.append(advice)
    return SafeText(" · ".join(filter(None, words)))


def _shortened(text: str) -> SafeText:
    return cut(safe_line(text.partition("\n")[0]), _ERROR_COLUMNS)


def _quiet(session: Session, now_ms: int | None, agent: AgentFacts, *, is_narrow: bool) -> SafeText:
    silence = silence_ms(session, now_ms, agent) or 0
    duration = f"{'' if is_narrow else 'for '}{running_clock(silence)}"
    missing = "no open call" if session.runs else "no event yet"
    usual = _usually(silence, usual_silence_ms(session))
    return SafeText(f"quiet {duration}, {missing}{usual}{_IN_THE_MIDDLE.get(session.phase, '')}")


def _thinking(session: Session, now_ms: int | None) -> SafeText:
    rhythm = session.rhythm
    thought = since_ms(rhythm.began_ms if rhythm.phase is Phase.THINKING else None, now_ms)
    usual_ms = usually_under(rhythm.thoughts)
    return SafeText(f"thinking{_if_long(thought)}{_usually(thought, usual_ms)}")


def _waiting(session: Session, now_ms: int | None, agent: AgentFacts) -> SafeText:
    silence = silence_ms(session, now_ms, agent)
    usual = _usually(silence, usual_silence_ms(session))
    if not session.runs:
        has_text = session.lines.malformed > 0
        hint = " · only text so far: is --output-format stream-json missing?" if has_text else ""
        if agent.silence and session.last_seen_ms is None and (silence or 0) >= _SILENT_PIPE_MS:
            hint = f" · {running_clock(silence or 0)} · {agent.silence}"
        return SafeText(f"waiting for the first event{hint}")
    if waits_for_subagents(session):
        return SafeText(f"waiting for the model or its subagents{_if_long(silence)}")
    if session.phase is Phase.WRITING:
        return SafeText(f"writing{_if_long(silence, 'quiet for ')}{usual}")
    return SafeText(f"waiting for the model{_if_long(silence)}{usual}")


def _calling(
    session: Session, now_ms: int | None, stall_mark: str, width: int | None, cpu_columns: int
) -> SafeText:
    """Return the status line of a session with open calls. It shows the number of open calls and one of them:
    the call that exceeds its limit by most, or else the oldest. The target is truncated to leave columns for
    the running time. It is also truncated for CPU use, if at least 16 columns of the target remain."""
    is_narrow = width is not None and width < _NARROW_COLUMNS
    calls = list(session.open_calls.values())
    shown = max(calls, key=lambda call: _over_limit_ms(call, now_ms))
    lead = _lead(session, calls, shown, is_narrow=is_narrow)
    time = _time(session, shown, now_ms, is_narrow=is_narrow)
    if time:
        time = f" · {time}" if lead == _ONE_CALL else f" {time}"
    if stall_mark:
        lead = stall_mark if is_narrow and lead == _ONE_CALL else f"{stall_mark}{lead}"
    left = _TARGET_COLUMNS if width is None else width - len(lead) - len(time)
    if width is not None and left - cpu_columns >= _USEFUL_TARGET_COLUMNS:
        left -= cpu_columns
    about = _about(shown, min(max(left, _LEAST_TARGET_COLUMNS), _TARGET_COLUMNS))
    return SafeText(f"{lead}{about}{time}")


def _over_limit_ms(call: Call, now_ms: int | None) -> int:
    running, limit = running_ms(call, now_ms), limit_ms(call)
    return 0 if running is None or limit is None else max(running - limit, 0)


def _lead(session: Session, calls: list[Call], shown: Call, *, is_narrow: bool) -> str:
    """Return the words before the call, with the numbers of calls in its model step if all belong to it."""
    if shown.group is not None and all(call.group == shown.group for call in calls):
        near = session.calls[max(shown.number - _MOST_PARALLEL, 0) : shown.number + _MOST_PARALLEL]
        near_in_step = sum(1 for call in near if call.group == shown.group and call.run == shown.run)
        in_step = max(near_in_step, len(calls))
        if in_step > 1:
            return (
                f"{len(calls):,} of {in_step:,} left: "
                if is_narrow
                else f"{in_step:,} parallel calls, {len(calls):,} left: "
            )
    if len(calls) == 1:
        return _ONE_CALL
    which = "the oldest" if shown is calls[0] else "overdue"
    return f"{len(calls)} calls, {which}: " if is_narrow else f"{len(calls)} parallel calls, {which}: "


def _time(session: Session, call: Call, now_ms: int | None, *, is_narrow: bool) -> str:
    """Return the running time of a call, compared with its limit or with the usual duration."""
    running, limit = running_ms(call, now_ms), limit_ms(call)
    if running is None:
        return ""
    time = running_clock(running)
    if limit is None:
        return time + _usually(running, usual_call_ms(session, call))
    if running >= limit + 1000:
        return f"{time}, {running_clock(running - limit)} over{'' if is_narrow else ' its limit'}"
    return f"{time} of {running_clock(limit)}" if is_narrow else f"{time} of its {running_clock(limit)} limit"


def _about(call: Call, width: int) -> SafeText:
    words = target(call)
    if call.kind is ToolKind.EXECUTE and words:
        return cut(words, width)
    tool = cut(shown_tool(call.tool), width if not words else max(width // 2, _LEAST_TARGET_COLUMNS))
    left = width - columns(tool) - 1
    if not words or left < _LEAST_TARGET_COLUMNS // 2:
        return tool
    if call.path is None or columns(words) <= left:
        return SafeText(f"{tool} {cut(words, left)}")
    while columns(words) >= left:
        words = SafeText(words[1:])
    return SafeText(f"{tool} …{words}")


def _if_long(length_ms: int | None, lead: str = "") -> str:
    """Return ` · 0:14` for a duration of at least 5 s, otherwise an empty string."""
    if length_ms is None or length_ms < _LEAST_SHOWN_MS:
        return ""
    return f" · {lead}{running_clock(length_ms)}"


def _usually(length_ms: int | None, usual_ms: int | None) -> str:
    """Return ` (usually under 0:09)` if a duration exceeds the usual one in whole seconds; else empty."""
    if length_ms is None or usual_ms is None or length_ms < _LEAST_SHOWN_MS:
        return ""
    usual_seconds = usual_ms // 1000 + 1
    if length_ms // 1000 <= usual_seconds:
        return ""
    return f" (usually under {running_clock(usual_seconds * 1000)})"


def _cpu(session: Session, now_ms: int | None, agent: AgentFacts, *, is_narrow: bool) -> str:
    """Return whether the agent's processes use CPU; empty if unknown, or if the silence is under 3 s."""
    silence = silence_ms(session, now_ms, agent)
    if agent.uses_cpu is None or silence is None or silence < _CPU_AFTER_MS:
        return ""
    if is_narrow:
        return " · uses CPU" if agent.uses_cpu else " · idle"
    return " · its processes use CPU" if agent.uses_cpu else " · its processes are idle"
