"""Which session belongs to which process.

The evidence, in this order: what the agent says; the files that a process has open; the session that its
arguments name; its folder, if exactly one session of that folder has changed since the process began. The
newest session is never taken by default: that would give several processes the same session.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import itemgetter

from agentwatch.agents.found import Found, Key
from agentwatch.agents.reported import Life, Said
from agentwatch.catalog.processes import look_of, session_in, started_ms
from agentwatch.catalog.standing import Process

# The sessions that may belong to a process, by their folder and by their last change.


class Candidates:
    """The sessions of one agent that no other evidence joins to a process."""

    def __init__(self) -> None:
        self._all: list[tuple[int, Key]] = []
        self._of: defaultdict[str | None, list[tuple[int, Key]]] = defaultdict(list)
        self._possible: dict[str | None, int] = {}
        """The time since which the sessions of a folder may belong to some process."""

    def add(self, folder: str | None, changed_ms: int, key: Key) -> None:
        """Add a session; its folder is None if it is not known."""
        self._all.append((changed_ms, key))
        self._of[folder].append((changed_ms, key))

    def sort(self) -> None:
        """Order the sessions by their last change."""
        for some in (self._all, *self._of.values()):
            some.sort()

    def only(self, folder: str | None, since: int) -> Key | None:
        """Return the session of a folder that has changed since a time, if it is exactly one."""
        if folder is None or _after(self._of.get(None, []), since):
            return None
        keys = _after(self._of.get(folder, []), since)
        return keys[0] if len(keys) == 1 else None

    def may_be(self, folder: str | None, since: int) -> None:
        """Note that each session of a folder that has changed since a time may belong to a process."""
        self._possible[folder] = min(since, self._possible.get(folder, since))

    def possible(self) -> Iterator[Key]:
        """Yield the sessions that may belong to a process."""
        for folder, since in self._possible.items():
            yield from _after(self._all if folder is None else self._of.get(folder, []), since)
            yield from _after(self._of.get(None, []), since)


def _after(sessions: list[tuple[int, Key]], since: int) -> list[Key]:
    """Return the sessions that have changed since a time."""
    return [key for _, key in sessions[bisect_left(sessions, since, key=itemgetter(0)) :]]


Joined = tuple[Life, Process | None]
_DEAD: Joined = (Life.DEAD, None)
_UNKNOWN: Joined = (Life.UNKNOWN, None)
_TOLERANCE_MS = 100
"""The start of a process and the time of a file are exact to 10 ms."""


def joined(
    founds: Iterable[Found],
    processes: Mapping[int, Process] | None,
    said: Mapping[Key, Said],
    cwds: Mapping[Key, str],
    exact: Collection[str] = (),
) -> dict[Key, Joined]:
    """Return for each session whether its process runs, and which it is.

    A session that has ended is `DEAD` with None. `UNKNOWN` is a session that some process may belong to. The
    process of a session that runs is None if several may be it.

    Args:
        founds: The sessions.
        processes: The processes of the agents by their id; None if they are not known.
        said: What the agents say; its sessions need not be found yet.
        cwds: The folders of sessions, where the lines of a session have one that its metadata lacks.
        exact: The agents that say of each session whether it is open.
    """
    joins = _Joins(processes or {}, said)
    left = [found for found in founds if not joins.by_evidence(found, cwds)]
    joins.add_said()
    if processes is None:
        return {**joins.found, **{found.key: _UNKNOWN for found in left}}
    joins.by_folder([found for found in left if found.parent is None], cwds, exact)
    for found in left:
        if found.parent is not None:
            joins.found[found.key] = joins.found.get((found.agent, found.parent), _DEAD)
    return joins.found


class _Joins:
    """The sessions that are joined so far, and the processes that are left."""

    def __init__(self, processes: Mapping[int, Process], said: Mapping[Key, Said]) -> None:
        self.found: dict[Key, Joined] = {}
        self._processes = processes
        self._said = said
        self._taken = {
            each.pid for each in said.values() if each.life is Life.LIVE and each.agent != "agentwatch"
        }
        """The processes whose session is known. One of our own recordings leaves its agent to the agent's
        own session."""
        self._movable: set[int] = set()
        """The processes whose arguments name a session, which the user may have left since."""
        self._by_file: dict[str, Process] = {}
        self._by_argument: dict[Key, Process] = {}
        for process in processes.values():
            for path in process.open_paths:
                self._by_file[os.path.basename(path)] = process
            if not process.is_shared and (named := session_in(process.agent, process.arguments)):
                self._by_argument[process.agent, named] = process

    def by_evidence(self, found: Found, cwds: Mapping[Key, str]) -> bool:
        """Join a session by what is said about it, by an open file or by arguments; return whether it is."""
        key = found.key
        said = self._said.get(key)
        if said is not None and (life := self._claimed(said)) is not None:
            self.found[key] = life, self._serving(self._processes.get(said.pid or 0), _cwd(found, cwds))
            return True
        file = self._by_file and (self._by_file.get(found.path.name) or self._by_file.get(f"{found.id}.lock"))
        if file and file.agent == found.agent:
            self._taken.add(file.pid)
            self.found[key] = Life.LIVE, self._serving(file, _cwd(found, cwds))
            return True
        named = self._by_argument and (
            self._by_argument.get(key) or self._by_argument.get((found.agent, os.fspath(found.path)))
        )
        if named and named.pid not in self._taken:
            self._movable.add(named.pid)
            self.found[key] = Life.LIVE, named
            return True
        return False

    def add_said(self) -> None:
        """Add the sessions that an agent reports, and of which no file is found yet."""
        for key, said in self._said.items():
            if key not in self.found and (life := self._claimed(said)) is not None:
                self.found[key] = life, self._serving(self._processes.get(said.pid or 0), said.cwd)

    def by_folder(self, founds: list[Found], cwds: Mapping[Key, str], exact: Collection[str]) -> None:
        """Join each session that alone may belong to a process; the others may run, or have ended."""
        left = [process for process in self._processes.values() if process.pid not in self._taken]
        daemons = {process.agent for process in self._processes.values() if process.is_shared}
        free = [
            (process, since)
            for process in left
            if (since := _since(process, process.agent in exact, process.agent in daemons)) is not None
        ]
        oldest: dict[str, int] = {}
        for process, since in free:
            oldest[process.agent] = min(since, oldest.get(process.agent, since))
        candidates: defaultdict[str, Candidates] = defaultdict(Candidates)
        for found in founds:
            self.found[found.key] = _DEAD
            first = oldest.get(found.agent)
            if first is not None and (changed := _changed_ms(found)) >= first:
                candidates[found.agent].add(_cwd(found, cwds), changed, found.key)
        claims: defaultdict[Key, list[Process]] = defaultdict(list)
        for some in candidates.values():
            some.sort()
        for process, since in free:
            some = candidates[process.agent]
            folder = None if process.is_shared else process.cwd
            only = some.only(folder, since)
            if only is not None and process.pid not in self._movable:
                claims[only].append(process)
            else:
                some.may_be(folder, since)
        for some in candidates.values():
            self.found.update(dict.fromkeys(some.possible(), _UNKNOWN))
        for key, claiming in claims.items():
            self.found[key] = Life.LIVE, claiming[0] if len(claiming) == 1 else None

    def _claimed(self, said: Said) -> Life | None:
        """Return what is claimed about a session's process; None if nothing is, or it is another process.

        Without /proc, the start that `ps` shows is compared only here.
        """
        process = self._processes.get(said.pid or 0)
        if said.life is Life.LIVE and process is not None and not process.began and said.began:
            began_ms = started_ms(said.began)
            if began_ms is not None and began_ms != process.began_ms:
                return None
        return said.claim

    def _serving(self, process: Process | None, cwd: str | None) -> Process | None:
        """Return the process of a session; that of a daemon with the number of its viewers in the folder."""
        if process is None or not process.is_shared:
            return process
        if look_of(process.agent).daemon.isdisjoint(process.arguments):
            return process
        viewers = [
            each
            for each in self._processes.values()
            if each.agent == process.agent
            and not each.is_shared
            and (each.cwd is None or cwd is None or each.cwd == cwd)
        ]
        return process._replace(viewers=len(viewers))


def _cwd(found: Found, cwds: Mapping[Key, str]) -> str | None:
    """Return the folder of a session, without a slash at the end; None if it is not known."""
    cwd = found.metadata.cwd or cwds.get(found.key)
    return (cwd.rstrip("/") or "/") if cwd else None


def _changed_ms(found: Found) -> int:
    changed = found.metadata.changed_ms
    return found.changed_ns // 10**6 if changed is None else changed


def _since(process: Process, is_exact: bool, has_daemon: bool) -> int | None:
    """Return the time since which a session of a process must have changed.

    Args:
        process: The process, of which no session is known.
        is_exact: Whether its agent says of each session whether it is open.
        has_daemon: Whether another process of the agent serves several sessions.

    Returns:
        Milliseconds since the epoch; None if no session without other evidence may belong to the process.
    """
    since = (process.began_ms or 0) - _TOLERANCE_MS
    if is_exact and (process.is_shared or process.cwd is None or has_daemon):
        return None
    if process.opened_ms is None:
        return since
    if look_of(process.agent).opens_each:
        return max(since, process.opened_ms - _TOLERANCE_MS)
    return since if process.open_paths else None
