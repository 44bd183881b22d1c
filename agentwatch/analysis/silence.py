"""Whether a silence is more than this session lets expect: by its own history, and by its calls' limits."""

from __future__ import annotations

from itertools import islice

from agentwatch.agent_facts import NO_FACTS, AgentFacts
from agentwatch.session import Call, Phase, Session, usually_under

UNKNOWN_USUAL_MS = 60_000
"""How long a silence may last in a session with too little history to judge it by."""
_TIMES_THE_USUAL = 3
_LEAST_QUIET_MS = 30_000
"""The model of a brisk session may once take half a minute over the arguments of a call."""
_GRACE_MS = 30_000
"""How long after its limit a call may take to come back."""
_UNLIMITED_CALL_MS = 600_000
"""How long a call without a limit may take, where nothing like it went before: it may be a subagent."""
_LIKE_CALLS = 64
_NEVER_ALIKE = frozenset({"shell", "mcp", "task"})
"""Tools whose calls tell nothing about the next: a build after ten `ls` is no fault."""
_STALLED = 2.0


def is_quiet(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> bool:
    """Whether nothing came for much longer than is usual here, and no open call explains it."""
    return patience_used(session, now_ms, agent) >= 1


def is_stalled(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> bool:
    """Whether it has been quiet for so long that it may hang; processes that use CPU speak against it."""
    return patience_used(session, now_ms, agent) >= _STALLED and not agent.uses_cpu


def patience_used(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> float:
    """Return how much of the silence that one would bear is used up; from 1 on it is quiet."""
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
            return 0.0  # one call that has its time explains the silence of all
        used = min(used, _call_patience_used(session, call, now_ms))
    return used


def silence_ms(session: Session, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> int | None:
    """Return for how long no line came; before the first, since the agent was started."""
    last_ms = session.last_seen_ms
    return since_ms(agent.started_ms if last_ms is None else last_ms, now_ms)


def usual_silence_ms(session: Session) -> int | None:
    """Return under what the silences usually stay in what the session does now; None is not known."""
    return usually_under(session.rhythm.silences.get(session.phase, ()))


def limit_ms(call: Call) -> int | None:
    """Return the time limit of a call; none is as good as no time at all."""
    return call.limit_ms if call.limit_ms is not None and call.limit_ms > 0 else None


def running_ms(call: Call, now_ms: int | None) -> int | None:
    """Return how long an open call has been running by our clock."""
    return since_ms(call.started.seen_ms if call.started else None, now_ms)


def usual_call_ms(session: Session, call: Call) -> int | None:
    """Return under what calls of the same tool usually stay, of the newest that ended; None is not known."""
    if call.tool in _NEVER_ALIKE:
        return None
    newest = islice(reversed(session.ended_calls), _LIKE_CALLS)
    lengths = [
        like.duration_ms if like.duration_ms is not None else like.seen_duration_ms
        for like in newest
        if like.tool == call.tool
    ]
    return usually_under([length for length in lengths if length is not None])


def since_ms(then_ms: int | None, now_ms: int | None) -> int | None:
    """Return how long ago something was; a clock that ran backwards stands at 0."""
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
