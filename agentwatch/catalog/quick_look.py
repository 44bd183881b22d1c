"""Counts the sessions that run, without an open list, within the second that a prompt waits. The counts are
those of a list. Reported states and running processes are cheap to read. If they do not decide the state of a
session, those that run are read too while there is time; else such a session is unknown.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.base.clock import now_ms as clock_ms
from agentwatch.catalog.status import UNKNOWN_COUNTS, StatusCounts, midnight

if TYPE_CHECKING:
    from agentwatch.agents.state_report import StateReport
    from agentwatch.catalog.reports import Registries
    from agentwatch.catalog.session_status import Process

MOST_SECONDS = 1.0
"""A disk that hangs must not hold up a prompt. Looking takes 5 ms, after 25 ms for the imports; reading what
runs among 100 sessions takes 0.1 s more, and among 5,000 0.5 s."""
_OWN = "agentwatch"


class Look(NamedTuple):
    counts: StatusCounts = UNKNOWN_COUNTS
    limits: str = ""
    """The limits in words, as the sessions that run report them; empty if unknown."""


def looked(
    look: Callable[[], Iterable[Look]] | None = None,
    most_seconds: float = MOST_SECONDS,
    *,
    has_limits: bool = False,
) -> Look:
    """Return the best that is found in time, or that nothing is known; the thread that looks is left behind,
    since it may wait for what cannot be interrupted. `look` yields better and better answers. `has_limits`
    needs the lines of the sessions."""
    found: list[Look] = []
    search = look or (lambda: _look(has_limits=has_limits))
    thread = threading.Thread(target=lambda: found.extend(search()), daemon=True)
    thread.start()
    thread.join(most_seconds)
    return found[-1] if found else Look()


def _look(*, has_limits: bool) -> Iterator[Look]:
    """Yield the counts by what is cheap to read, and then those of a list, if they may differ."""
    from agentwatch.catalog.processes import Processes
    from agentwatch.catalog.reports import Registries

    now_ms = clock_ms()
    registries, processes = Registries(os.environ, Path.home()), Processes()
    registries.refresh(now_ms / 1000)
    processes.refresh(now_ms / 1000)
    reported = [each for each in registries.reported.values() if not each.is_one_liner]
    one_liners = {each.pid for each in registries.reported.values() if each.is_one_liner}
    agents = {pid: each for pid, each in processes.agents.items() if pid not in one_liners}
    counts = counted(reported, agents if processes.is_known else None, now_ms)
    yield Look(counts)
    is_needed = processes.is_known and not is_decided(reported, agents)
    if is_needed or has_limits:
        yield _listed(registries, now_ms, None if is_needed else counts)


def is_decided(reported: list[StateReport], agents: Mapping[int, Process]) -> bool:
    """Whether the reports alone decide each state: they do not say whether a turn has failed."""
    from agentwatch.agents.state_report import Life, State

    live = [each for each in reported if each.life is Life.LIVE]
    known = {each.pid for each in live if each.agent != _OWN}
    reports = [each.state for each in live if each.agent != _OWN or each.pid not in known]
    is_silent = any(pid not in known and not each.is_shared for pid, each in agents.items())
    return not is_silent and all(state in (State.WORKING, State.ASKS, State.SHELL) for state in reports)


def _listed(registries: Registries, now_ms: int, counts: StatusCounts | None) -> Look:
    """What a list of the sessions that run shows. `registries` was read: no server is asked twice. `counts`
    is None for those of the list."""
    from agentwatch.catalog.catalog import Machine
    from agentwatch.catalog.limits import NewestLimits, limits_words
    from agentwatch.catalog.row_counts import status_counts

    machine = Machine(os.environ, Path.home(), registries=registries, is_brief=True)
    machine.settle(now_ms)
    limits = NewestLimits()
    limits.update(machine.rows.values())
    if counts is None:
        doubtful = machine.doubtful(now_ms)
        counts = status_counts((row for key, row in machine.rows.items() if key not in doubtful), now_ms)
        counts = counts._replace(ended_today=None, unknown=(counts.unknown or 0) + len(doubtful))
    return Look(counts, limits_words(limits.shown(now_ms), now_ms))


def counted(reported: list[StateReport], agents: Mapping[int, Process] | None, now_ms: int) -> StatusCounts:
    """The sessions that run, or may run. `agents` is None if they are not known."""
    from agentwatch.agents.state_report import Life
    from agentwatch.catalog.session_status import GROUPS

    counts = dict.fromkeys((*(group.name.lower() for group in GROUPS.values()), "unknown"), 0)
    others = {each.pid for each in reported if each.agent != _OWN and each.pid is not None}
    for each in reported:
        if each.life is Life.DEAD or (each.agent == _OWN and each.pid in others):
            continue  # an agent that `run` has started also speaks for itself
        group = None if each.state is None else GROUPS.get(each.state)
        if each.life is Life.LIVE and group is not None:
            counts[group.name.lower()] += 1
        elif each.life is Life.LIVE or (each.since_ms or 0) >= midnight(now_ms):
            counts["unknown"] += 1
    known = {each.pid for each in reported}
    silent = [pid for pid, each in (agents or {}).items() if pid not in known and not each.is_shared]
    counts["unknown"] += len(silent)
    found = StatusCounts(**counts, ended_today=None)
    return found if agents is not None else found._replace(unknown=None)
