"""Decides whether a session is quiet: silent for longer than its history and its open calls explain.

In these functions `now_ms` is the present time by the clock of the arrival times, in milliseconds since the
epoch; None if unknown. `agent` has the facts about the agent's process, if agentwatch started it.
"""

from __future__ import annotations

from itertools import islice

from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.call import Call
from agentwatch.session.counts import usually_under
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Phase, Session
from agentwatch.text import UNKNOWN
from agentwatch.text.durations import duration_words, running_clock

_UNKNOWN_USUAL_MS = 60_000
"""The tolerated silence in a session with too little history."""
_TIMES_THE_USUAL = 3
"""The tolerated silence or duration, as a multiple of the usual one."""
_LEAST_QUIET_MS = 30_000
"""The least tolerated silence: even a fast model may need half a minute to write the arguments of a call."""
_GRACE_MS = 30_000
"""The tolerated time between the time limit of a call and its end."""
_UNLIMITED_CALL_MS = 600_000
"""The tolerated duration of a call without a limit and without similar calls: it may be a subagent."""
_COMPACTION_MS = 600_000
"""The tolerated duration of a compaction: the model reads the whole conversation and writes a summary."""
_SIMILAR_CALLS = 64
"""The number of the newest ended calls among which similar calls are searched."""
_VARIABLE_KINDS = frozenset({ToolKind.EXECUTE, ToolKind.MCP, ToolKind.DELEGATE})
"""Kinds whose calls differ too much to predict the next: a build after ten `ls` is not a stall."""
_STALLED = 2.0
"""The fraction of the tolerated silence at which the agent may hang."""


def is_quiet(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> bool:
    """Return whether the silence is longer than tolerated, and no open call explains it."""
    return _patience_used(session, now_ms, agent) >= 1


def is_stalled(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> bool:
    """Return whether the agent may hang: silent for twice the tolerated time, and not known to use CPU."""
    return _patience_used(session, now_ms, agent) >= _STALLED and not agent.uses_cpu


def _patience_used(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> float:
    """Return the silence as a fraction of what is tolerated; 1.0 or more counts as quiet. With open calls, it
    is the smallest of their fractions, because one call within its time explains the whole silence. A silence
    under 30 s then never counts as quiet. A session that is over returns 0.0, and so does one that waits for
    the user's answer or for a usage limit, or that a rule has paused. The time until an announced retry does
    not count."""
    silence = silence_ms(session, now_ms, agent)
    if session.last_seen_ms is None and agent.pid is None:
        return 0.0  # some agents print only at their end
    if silence is None or session.phase is Phase.NOTHING or agent.paused_by:
        return 0.0
    if session.questions or agent.asks:
        return 0.0
    if session.limits.waits(now_ms) and session.phase is Phase.WAITING:
        return 0.0
    if session.compacting is not None:
        return silence / _COMPACTION_MS
    if session.retry is not None and session.retry[0].delay_ms:
        silence = max(silence - session.retry[0].delay_ms, 0)
    if session.phase is not Phase.CALLING:
        usual = usual_silence_ms(session)
        tolerated_ms = _UNKNOWN_USUAL_MS if usual is None else max(_TIMES_THE_USUAL * usual, _LEAST_QUIET_MS)
        if silence > tolerated_ms and waits_for_subagents(session):
            tolerated_ms = max(tolerated_ms, _UNLIMITED_CALL_MS)
        return silence / tolerated_ms
    used = silence / _GRACE_MS
    for call in session.open_calls.values():
        if used < 1:
            return 0.0  # one call within its time explains the whole silence
        used = min(used, _call_patience_used(session, call, now_ms))
    return used


def waits_for_subagents(session: Session) -> bool:
    """Return whether the run may wait in silence for subagents that continue in the background."""
    if not session.traits.waits_for_subagents or session.phase not in (Phase.WAITING, Phase.WRITING):
        return False
    newest = islice(reversed(session.ended_calls), _SIMILAR_CALLS)
    return any(
        call.kind is ToolKind.DELEGATE and call.outcome is Outcome.RETURNED and call.run == len(session.runs)
        for call in newest
    )


def silence_ms(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> int | None:
    """Return the time since the last line, the agent's start, or the resumption after a pause; None if
    unknown."""
    last_ms = agent.started_ms if session.last_seen_ms is None else session.last_seen_ms
    if agent.continued_ms is not None:
        last_ms = max(agent.continued_ms, last_ms or 0)
    return since_ms(last_ms, now_ms)


def usual_silence_ms(session: Session) -> int | None:
    """Return the 90th percentile of the silences in the present phase; None with too little history."""
    return usually_under(session.rhythm.silences.get(session.phase, ()))


def limit_ms(call: Call) -> int | None:
    """Return the time limit of a call; None if it has no limit. A limit of 0 counts as no limit."""
    return call.limit_ms if call.limit_ms is not None and call.limit_ms > 0 else None


def running_ms(call: Call, now_ms: int | None) -> int | None:
    """Return the time since the start of an open call arrived; None if unknown."""
    return since_ms(call.started.seen_ms if call.started else None, now_ms)


def call_clock(call: Call, now_ms: int | None, unknown: str = UNKNOWN) -> str:
    """Return the duration of a call, or the clock of a running one; `~` marks the clock of agentwatch. If
    `now_ms` is None, the duration of a running call is `unknown`."""
    if call.outcome is Outcome.RUNNING:
        running = running_ms(call, now_ms)
        return unknown if running is None else running_clock(running)
    if call.duration_ms is not None:
        return duration_words(call.duration_ms)
    if call.seen_duration_ms is not None:
        return f"~{duration_words(call.seen_duration_ms)}"
    return unknown


def usual_call_ms(session: Session, call: Call) -> int | None:
    """Return the 90th percentile of the durations of the newest calls of the same tool. None if there are too
    few of them, or if such calls do not predict each other (commands, MCP tools and subagents)."""
    if call.kind in _VARIABLE_KINDS:
        return None
    newest = islice(reversed(session.ended_calls), _SIMILAR_CALLS)
    lengths = [
        similar.duration_ms if similar.duration_ms is not None else similar.seen_duration_ms
        for similar in newest
        if similar.tool == call.tool
    ]
    return usually_under([length for length in lengths if length is not None])


def since_ms(then_ms: int | None, now_ms: int | None) -> int | None:
    """Return the time since a moment; 0 if the clock went backwards, None if either time is unknown."""
    if then_ms is None or now_ms is None:
        return None
    return max(now_ms - then_ms, 0)


def _call_patience_used(session: Session, call: Call, now_ms: int | None) -> float:
    running, limit = running_ms(call, now_ms), limit_ms(call)
    if running is None:
        return 0.0
    if limit is not None:
        return (running - limit) / _GRACE_MS
    usual = usual_call_ms(session, call)
    tolerated_ms = _UNLIMITED_CALL_MS if usual is None else max(_TIMES_THE_USUAL * usual, _UNKNOWN_USUAL_MS)
    return running / tolerated_ms
