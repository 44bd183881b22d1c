"""Counts the live sessions by what is cheap to read: what agents say of them, and which processes run.

No line of a session is read. A session of an agent that says nothing of its state is counted as unknown.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.catalog.status.counts import UNKNOWN_COUNTS, Counts, midnight

if TYPE_CHECKING:
    from agentwatch.agents.reported import Said
    from agentwatch.catalog.standing import Process

MOST_SECONDS = 0.25
"""A disk that hangs must not hold up a prompt. Otherwise looking takes 5 ms, after 25 ms for the imports."""
_OWN = "agentwatch"


def looked(look: Callable[[], Counts] | None = None, most_seconds: float = MOST_SECONDS) -> Counts:
    """Return the counts of this machine, or unknown ones if that takes too long.

    The thread that looks is left behind then: whatever it waits for cannot be interrupted.

    Args:
        look: Returns the counts; None for those of this user.
        most_seconds: The longest time to wait.
    """
    found: list[Counts] = []
    thread = threading.Thread(target=lambda: found.append((look or _look)()), daemon=True)
    thread.start()
    thread.join(most_seconds)
    return found[0] if found else UNKNOWN_COUNTS


def _look() -> Counts:
    from agentwatch.catalog.processes import Processes
    from agentwatch.catalog.reports import Registries

    now = time.time()
    registries, processes = Registries(os.environ, Path.home()), Processes()
    registries.refresh(now)
    processes.refresh(now)
    said = [each for each in registries.said.values() if not each.is_one_liner]
    one_liners = {each.pid for each in registries.said.values() if each.is_one_liner}
    agents = {pid: each for pid, each in processes.agents.items() if pid not in one_liners}
    return counted(said, agents if processes.is_known else None, int(now * 1000))


def counted(said: list[Said], agents: Mapping[int, Process] | None, now_ms: int) -> Counts:
    """Return the counts of the sessions that run, or may run.

    Args:
        said: What agents say of their sessions.
        agents: The processes of agents by their id; None if they are not known.
        now_ms: The present time, in milliseconds since the epoch.
    """
    from agentwatch.agents.reported import Life
    from agentwatch.catalog.standing import GROUPS, Group

    fields = {
        Group.NEEDS_YOU: "needs_you",
        Group.WORKING: "working",
        Group.FAILED: "failed",
        Group.QUIET: "quiet",
        Group.YOUR_TURN: "your_turn",
    }
    counts = dict.fromkeys((*fields.values(), "unknown"), 0)
    others = {each.pid for each in said if each.agent != _OWN and each.pid is not None}
    for each in said:
        if each.life is Life.DEAD or (each.agent == _OWN and each.pid in others):
            continue  # an agent that `run` has started also speaks for itself
        group = None if each.state is None else GROUPS.get(each.state)
        if each.life is Life.LIVE and group is not None:
            counts[fields[group]] += 1
        elif each.life is Life.LIVE or (each.since_ms or 0) >= midnight(now_ms):
            counts["unknown"] += 1
    known = {each.pid for each in said}
    silent = [pid for pid, each in (agents or {}).items() if pid not in known and not each.is_shared]
    counts["unknown"] += len(silent)
    found = Counts(**counts, ended_today=None)
    return found if agents is not None else found._replace(unknown=None)
