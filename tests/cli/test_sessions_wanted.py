"""The sessions that are printed match the options, and are neither old nor folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentwatch.agents.found import Key
from agentwatch.agents.reported import State
from agentwatch.catalog.row import Row
from agentwatch.cli.sessions import Wanted, chosen
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import case

DAY_MS = 86_400_000
OLD_MS = NOW_MS - 8 * DAY_MS


def by_key(*rows: Row) -> Mapping[Key, Row]:
    """Return rows as a machine has them."""
    return {each.key: each for each in rows}


def names(found: list[Row]) -> list[str]:
    """Return the titles of rows, in order."""
    return [each.title for each in found]


ROWS = by_key(
    row(State.ASKS, number=1, title="asks", seen_ms=NOW_MS - 5, repo="api"),
    row(State.WORKING, number=2, title="works", agent="codex", seen_ms=NOW_MS - 3, repo="web"),
    row(State.FAILED, number=3, title="own", agent="cursor", is_own=True, seen_ms=NOW_MS - 4, repo="API"),
    row(State.SUCCEEDED, number=4, title="old", seen_ms=OLD_MS, repo="api"),
    row(State.YOUR_TURN, number=5, title="old and live", seen_ms=OLD_MS, repo="web"),
    row(State.SUCCEEDED, number=6, title="archived", seen_ms=NOW_MS - 9, is_archived=True),
    row(State.SUCCEEDED, number=7, title="one-liner", seen_ms=NOW_MS - 2, is_one_liner=True),
    row(State.WORKING, number=8, title="live one-liner", seen_ms=NOW_MS - 1, is_one_liner=True),
    row(State.WORKING, number=9, title="sub", seen_ms=NOW_MS, parent=row(number=1).key),
    row(State.ASKS, number=10, title="sub asks", seen_ms=NOW_MS - 6, parent=row(number=1).key),
    row(State.WORKING, number=11, title="orphan", seen_ms=NOW_MS - 7, parent=("claude", "gone")),
    row(State.UNKNOWN, number=12, title="no time", seen_ms=None),
)


def test_sessions_are_printed_that_options_want() -> None:
    """The rest is printed, the newest first; what is hidden is counted. With --all nothing is hidden. A
    session is printed if it matches one name of each option; agentwatch has our own recordings. The count
    is that of the sessions that --all would add.
    """
    found = chosen(ROWS, Wanted(), NOW_MS)
    assert names(found.rows) == [
        *("live one-liner", "works", "own", "asks", "sub asks", "orphan", "old and live", "no time"),
    ]
    assert (found.older, found.one_liners, found.subagents) == (2, 1, 1)
    assert found.hidden() == "2 older sessions, 1 one-liner, 1 subagent hidden: --all"
    found = chosen(ROWS, Wanted(shows_all=True), NOW_MS)
    assert len(found.rows) == len(ROWS)
    assert names(found.rows)[:2] == ["sub", "live one-liner"]
    assert found.hidden() == ""
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"agents": frozenset({"codex"})}, ["works"]),
        ({"agents": frozenset({"agentwatch"})}, ["own"]),
        ({"agents": frozenset({"codex", "cursor"})}, ["works", "own"]),
        ({"states": frozenset({"asks"})}, ["asks", "sub asks"]),
        ({"states": frozenset({"your turn", "failed"})}, ["own", "old and live"]),
        ({"repo": "api"}, ["own", "asks"]),
        ({"repo": "ap"}, []),
        ({"repo": "api", "states": frozenset({"failed"})}, ["own"]),
        ({"since_ms": NOW_MS - 4}, ["live one-liner", "works", "own"]),
    ]
    for options, printed in cases:
        with case(options):
            assert names(chosen(ROWS, Wanted(**options), NOW_MS).rows) == printed
    found = chosen(ROWS, Wanted(repo="api"), NOW_MS)
    assert found.hidden() == "1 older session hidden: --all"


def test_hidden_sessions_are_counted_by_time() -> None:
    """With --since, an older session is not hidden, an archived one is. A large number of hidden sessions is
    readable.
    """
    found = chosen(ROWS, Wanted(since_ms=OLD_MS), NOW_MS)
    assert "old" in names(found.rows)
    assert "no time" not in names(found.rows)
    assert found.older == 1
    rows = by_key(*(row(number=at, seen_ms=OLD_MS) for at in range(4981)))
    assert chosen(rows, Wanted(), NOW_MS).hidden() == "4,981 older sessions hidden: --all"
