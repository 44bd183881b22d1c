"""Sessions at one time, and the states that they have then."""

from dataclasses import replace
from pathlib import Path

from agentwatch.agents.session_entry import SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.digest.digest import Digest, OpenCall, Turn
from agentwatch.catalog.session_status import Process, SessionStatus
from agentwatch.catalog.states import status
from agentwatch.session.events import ToolKind

NOW_MS = 1_795_301_454_020
SECOND_MS = 1_000
MINUTE_MS = 60_000

Change = object


def found(agent: str = "codex", parent: str | None = None) -> SessionEntry:
    return SessionEntry(agent, "s1", Path("/sessions/s1.jsonl"), 1_000, NOW_MS * 10**6, parent=parent)


def call(
    kind: ToolKind = ToolKind.EXECUTE,
    target: str = "pytest -q",
    *,
    ago_ms: int | None = 5 * SECOND_MS,
    call_id: str = "c1",
    agent: str | None = None,
    asks: bool = False,
) -> OpenCall:
    """Return an open call that started some time ago."""
    started_ms = None if ago_ms is None else NOW_MS - ago_ms
    return OpenCall(call_id, "Tool", kind, target, started_ms, agent, asks=asks)


def working(*calls: OpenCall, seen_ago_ms: int = 5 * SECOND_MS) -> Digest:
    """Return the digest of a session in the middle of a turn, with open calls."""
    return Digest(
        is_whole=True,
        turn=Turn.OPEN,
        turn_ms=NOW_MS - 10 * MINUTE_MS,
        seen_ms=NOW_MS - seen_ago_ms,
        open_calls={each.call_id: each for each in calls},
        calls=len(calls),
    )


def process(agent: str = "codex", *, child_ago_ms: int | None = None, children: int | None = None) -> Process:
    """Return a process that began before all lines, with a child that began some time ago or without one."""
    child_began_ms = None if child_ago_ms is None else NOW_MS - child_ago_ms
    count = int(child_ago_ms is not None) if children is None else children
    began_ms = NOW_MS - 100 * MINUTE_MS
    return Process(7, 1, agent, began_ms=began_ms, children=count, child_began_ms=child_began_ms)


def reported(
    state: State | None, *, agent: str = "claude", ago_ms: int = 3 * SECOND_MS, about: str = ""
) -> StateReport:
    """Return what an agent says about its session since some time."""
    return StateReport(agent, "s1", Life.LIVE, state=state, since_ms=NOW_MS - ago_ms, about=about)


def judged(
    digest: Digest | None,
    *,
    agent: str = "codex",
    says: StateReport | None = None,
    runs: Process | None = None,
    life: Life = Life.LIVE,
    parent: str | None = None,
    now_ms: int = NOW_MS,
) -> SessionStatus:
    """Return the state of a session, which names the evidence that decided it."""
    known = status(found(agent, parent), digest, says, runs, life, now_ms)
    assert known.by
    return known


def ended(digest: Digest, **changes: object) -> Digest:
    """Return the digest of a session whose turn has ended a minute ago."""
    facts = {"turn": Turn.ENDED, "turn_ms": NOW_MS - MINUTE_MS, "open_calls": {}, **changes}
    return replace(digest, **facts)  # type: ignore[arg-type]
