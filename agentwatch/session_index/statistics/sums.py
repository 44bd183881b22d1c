"""The sums over sessions: time, calls, tokens and cost, as far as they are known."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from agentwatch.session_index.statistics.totals import total

_COLUMNS = (
    *(
        "agent",
        "stored_session.repository",
        "parent IS NOT NULL",
        "outcome",
        "tests",
        "problem IS NOT NULL",
    ),
    *("active_ms", "calls", "failed", "rejected", "input_tokens", "cached_tokens", "output_tokens"),
    "cost_usd",
)
_QUERY = f"SELECT {', '.join(_COLUMNS)} FROM stored_session JOIN temp.chosen USING (id)"  # noqa: S608 - constants


class Sums(NamedTuple):
    """The sums over several sessions; None means unknown.

    A subagent with a file of its own is counted apart. Its time is part of its parent's and is not added; its
    calls, tokens and cost are.
    """

    sessions: int = 0
    """The number of sessions, not counting subagents."""
    subagents: int = 0
    active_ms: float | None = None
    active_sessions: int = 0
    """The number of `sessions` whose active time is known."""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    input_tokens: float | None = None
    cached_tokens: float | None = None
    output_tokens: float | None = None
    token_sessions: int = 0
    """The number of `sessions` whose tokens are known."""
    cost_usd: float | None = None
    cost_sessions: int = 0
    """The number of `sessions` whose cost is known."""


class _Row(NamedTuple):
    """A session, in the order of the columns of the query."""

    agent: str
    repository: str | None
    is_subagent: int
    outcome: str | None
    tests: str | None
    is_unreadable: int
    active_ms: int | None
    calls: int
    failed: int
    rejected: int
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class SessionFacts(NamedTuple):
    """The sums of all chosen sessions, and those of each agent and each repository."""

    sums: Sums
    outcomes: dict[str, int]
    """The number of sessions by the outcome of their last run; those of subagents are left out."""
    tests: dict[str, int]
    """The number of sessions by the state of their tests at the end; those of subagents are left out."""
    unreadable: int
    agents: dict[str, Sums]
    """The agent with the most sessions is first."""
    repositories: dict[str | None, Sums]
    """None is for sessions whose folder is unknown."""


def session_facts(connection: sqlite3.Connection) -> SessionFacts:
    """Return the sums over the chosen sessions."""
    rows = [_Row(*row) for row in connection.execute(_QUERY)]
    mains = [row for row in rows if not row.is_subagent]
    return SessionFacts(
        _sums(rows),
        _counted(row.outcome for row in mains),
        _counted(row.tests for row in mains),
        sum(row.is_unreadable for row in rows),
        _by(rows, lambda row: row.agent),
        _by(rows, lambda row: row.repository),
    )


def _counted(names: Iterable[str | None]) -> dict[str, int]:
    found = Counter(name or "unknown" for name in names)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _by(rows: Iterable[_Row], key: Any) -> dict[Any, Sums]:
    groups: dict[Any, list[_Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    found = {name: _sums(group) for name, group in groups.items()}
    return dict(sorted(found.items(), key=lambda item: (-item[1].sessions, -item[1].calls, item[0] or "")))


def _sums(rows: list[_Row]) -> Sums:
    mains = [row for row in rows if not row.is_subagent]
    active = [row.active_ms for row in mains if row.active_ms is not None]
    return Sums(
        sessions=len(mains),
        subagents=len(rows) - len(mains),
        active_ms=total(active),
        active_sessions=len(active),
        calls=sum(row.calls for row in rows),
        failed=sum(row.failed for row in rows),
        rejected=sum(row.rejected for row in rows),
        input_tokens=total(row.input_tokens for row in rows),
        cached_tokens=total(row.cached_tokens for row in rows),
        output_tokens=total(row.output_tokens for row in rows),
        token_sessions=sum(row.input_tokens is not None or row.output_tokens is not None for row in mains),
        cost_usd=total(row.cost_usd for row in rows),
        cost_sessions=sum(row.cost_usd is not None for row in mains),
    )
