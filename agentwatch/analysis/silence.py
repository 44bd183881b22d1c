"""Judges whether a silence is longer than the session's own history and the limits of its calls explain."""

from __future__ import annotations

from itertools import islice

from agentwatch.agent_facts import NO_FACTS, AgentFacts
from agentwatch.events import ToolKind
from agentwatch.session import Call, Phase, Session, usually_under

UNKNOWN_USUAL_MS = 60_000
"""The tolerated silence in a session with too little history."""
_TIMES_THE_USUAL = 3
_LEAST_QUIET_MS = 30_000
"""Even the model of a fast session may need half a minute for the arguments of a call."""
_GRACE_MS = 30_000
"""How long after its time limit a call may take to end."""
_UNLIMITED_CALL_MS = 600_000
"""The tolerated duration of a call without a limit and without similar calls: it may be a subagent."""
_LIKE_CALLS = 64
_VARIABLE_KINDS = frozenset({ToolKind.EXECUTE, ToolKind.MCP, ToolKind.DELEGATE})
"""Kinds whose calls do not predict the next one: a build after ten `ls` is not a stall."""
_STALLED = 2.0


def is_quiet(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> bool:
    """Return whether nothing arrived for much longer than usual, and no open call explains it."""
    return patience_used(session, now_ms, agent) >= 1


def is_stalled(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> bool:
    """Return whether the agent may hang: it is quiet for twice the tolerated time, and uses no CPU."""
    return patience_used(session, now_ms, agent) >= _STALLED and not agent.uses_cpu


def patience_used(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> float:
    """Return the silence as a fraction of what is tolerated; 1.0 or more counts as quiet."""
    silence = silence_ms(session, now_ms, agent)
    if silence is None or session.phase is Phase.NOTHING:
        return 0.0
    if session.phase is not Phase.CALLING:
        usual = usual_silence_ms(session)
        borne = UNKNOWN_USUAL_MS if usual is None else max(_TIMES_THE_USUAL * usual, _LEAST_QUIET_MS)
        return silence / borne
    used = silence / _GRACE_MS
    for call in session.open_calls.values():
        if used < 1:
            return 0.0  # one call within its time explains the whole silence
        used = min(used, _call_patience_used(session, call, now_ms))
    return used


def silence_ms(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> int | None:
    """Return the time since the last line; before the first line, since the agent was started."""
    last_ms = session.last_seen_ms
    return since_ms(agent.started_ms if last_ms is None else last_ms, now_ms)


def usual_silence_ms(session: Session) -> int | None:
    """Return the length that silences in the present phase usually do not exceed; None if unknown."""
    return usually_under(session.rhythm.silences.get(session.phase, ()))


def limit_ms(call: Call) -> int | None:
    """Return the time limit of a call; None if it has none. A limit of 0 counts as none."""
    return call.limit_ms if call.limit_ms is not None and call.limit_ms > 0 else None


def running_ms(call: Call, now_ms: int | None) -> int | None:
    """Return how long an open call has been running by our clock."""
    return since_ms(call.started.seen_ms if call.started else None, now_ms)


def usual_call_ms(session: Session, call: Call) -> int | None:
    """Return the duration that the newest calls of the same tool usually do not exceed; None if unknown."""
    if call.kind in _VARIABLE_KINDS:
        return None
    newest = islice(reversed(session.ended_calls), _LIKE_CALLS)
    lengths = [
        like.duration_ms if like.duration_ms is not None else like.seen_duration_ms
        for like in newest
        if like.tool == call.tool
    ]
    return usually_under([length for length in lengths if length is not None])


def since_ms(then_ms: int | None, now_ms: int | None) -> int | None:
    """Return the time since a moment; 0 if the clock went backwards, None if either is unknown."""
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
    borne = _UNLIMITED_CALL_MS if usual is None else max(_TIMES_THE_USUAL * usual, UNKNOWN_USUAL_MS)
    return running / borne
