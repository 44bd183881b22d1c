"""Without an open list, reports are counted first, and what runs is read if they do not decide."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from agentwatch.agents.reported import Life, Said, State
from agentwatch.catalog.standing import Process
from agentwatch.catalog.status.counts import UNKNOWN_COUNTS, Counts
from agentwatch.catalog.status.look import Look, counted, is_decided, looked
from tests.builders.machine.rows import NOW_MS
from tests.conftest import case

NOTHING = Counts(ended_today=None)
DAY_MS = 86_400_000


def said(state: State | None, life: Life = Life.LIVE, pid: int | None = None, agent: str = "claude") -> Said:
    """Return what an agent says about a session."""
    return Said(agent, f"{agent}-{pid}-{state}", life, pid, state=state, since_ms=NOW_MS - 2 * DAY_MS)


def agent(pid: int, name: str = "codex", *, is_shared: bool = False) -> tuple[int, Process]:
    """Return the process of an agent, by its id."""
    return pid, Process(pid, 1, name, is_shared=is_shared)


def test_a_machine_without_agents_has_nothing_to_say() -> None:
    """No session runs; how many have ended is not known without reading them."""
    assert counted([], {}, NOW_MS) == NOTHING


def test_what_an_agent_says_is_counted() -> None:
    """A live session counts in the group of its state; one whose agent does not say it is unknown."""
    cases: list[tuple[State | None, dict[str, int]]] = [
        (State.ASKS, {"needs_you": 1}),
        (State.WORKING, {"working": 1}),
        (State.YOUR_TURN, {"your_turn": 1}),
        (State.SHELL, {"your_turn": 1}),
        (State.TURN_FAILED, {"failed": 1}),
        (State.QUIET, {"quiet": 1}),
        (State.UNKNOWN, {"unknown": 1}),
        (None, {"unknown": 1}),
    ]
    for state, counts in cases:
        with case(state):
            assert counted([said(state)], {}, NOW_MS) == NOTHING._replace(**counts)
            assert counted([said(state, Life.DEAD)], {}, NOW_MS) == NOTHING


def test_a_session_of_another_container_is_unknown_for_a_day() -> None:
    """A record of another process namespace is no live session, and is forgotten at midnight."""
    old = said(State.ASKS, Life.UNKNOWN)
    assert counted([old], {}, NOW_MS) == NOTHING
    assert counted([old._replace(since_ms=NOW_MS)], {}, NOW_MS) == NOTHING._replace(unknown=1)


def test_an_agent_that_says_nothing_is_unknown() -> None:
    """A process that no agent names counts once; a daemon that serves several sessions does not."""
    agents = dict([agent(1), agent(2, "claude"), agent(3, is_shared=True)])
    assert counted([said(State.WORKING, pid=2)], agents, NOW_MS) == NOTHING._replace(working=1, unknown=1)


def test_an_agent_of_run_is_counted_once() -> None:
    """A session that `run` records and that its agent describes too is one session."""
    both = [said(State.ASKS, pid=7), said(None, pid=7, agent="agentwatch")]
    assert counted(both, dict([agent(7, "claude")]), NOW_MS) == NOTHING._replace(needs_you=1)
    assert counted(both[1:], dict([agent(7)]), NOW_MS) == NOTHING._replace(unknown=1)


def test_unknown_processes_are_unknown() -> None:
    """Where the processes cannot be read at once, the number of other sessions is unknown."""
    found = counted([said(State.ASKS, pid=7)], None, NOW_MS)
    assert found == NOTHING._replace(needs_you=1, unknown=None)
    assert found.line() == "1 needs you"


def test_a_disk_that_hangs_is_not_waited_for() -> None:
    """After the longest time nothing is known, and the line says so."""
    hanging = threading.Event()

    def look() -> Iterator[Look]:
        hanging.wait(20)
        yield Look(NOTHING)

    found = looked(look, 0.01)
    hanging.set()
    assert found == Look(UNKNOWN_COUNTS)
    assert found.counts.line() == "–"


def test_cheap_counts_are_kept_if_better_ones_take_too_long() -> None:
    """What is read in time counts: the reports, or else the sessions too."""
    hanging, better = threading.Event(), Look(NOTHING._replace(quiet=1), "claude 5 h 62 %")

    def look(*, hangs: bool) -> Iterator[Look]:
        yield Look(NOTHING)
        if hangs:
            hanging.wait(20)
        yield better

    assert looked(lambda: look(hangs=False), 20) == better
    assert looked(lambda: look(hangs=True), 0.2) == Look(NOTHING)
    hanging.set()


def test_sessions_are_read_only_if_reports_decide_nothing() -> None:
    """An agent at work, or one that asks, says all; the end of a turn, or silence, does not."""
    codex, claude = dict([agent(1)]), dict([agent(2, "claude")])
    assert is_decided([], {})
    assert is_decided([said(State.WORKING, pid=2), said(State.YOUR_TURN, Life.DEAD, pid=3)], claude)
    assert is_decided([said(State.ASKS, pid=2), said(None, pid=2, agent="agentwatch")], claude)
    assert not is_decided([said(State.YOUR_TURN, pid=2)], claude)
    assert not is_decided([said(None, pid=2)], claude)
    assert not is_decided([said(State.WORKING, pid=2)], {**claude, **codex})
    assert is_decided([], dict([agent(3, is_shared=True)]))


def test_this_machine_is_looked_at(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The counts of this machine are known in time."""
    assert looked(most_seconds=20).counts.needs_you is not None
