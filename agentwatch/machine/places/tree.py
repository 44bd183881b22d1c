"""The folders in which sessions were found, and the passes over them."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator
from heapq import heappop, heappush
from itertools import count, islice

from agentwatch.faults import reading
from agentwatch.machine.places.candidates import Candidate, Candidates
from agentwatch.machine.places.folder import entries_of, own_folder, regular_file
from agentwatch.machine.places.layouts import Roots
from agentwatch.machine.problems import is_problem
from agentwatch.wire.found import Key
from agentwatch.wire.places import Folder, Spot, Stamp

FULL_PASS_S = 60
"""Each folder is scanned again after this time, with the stamps of its files: a file that grows does not
change its folder."""
_POLL_S = 1.0
"""The shortest time between two readings of a database."""
_FRESH_NS = 2 * 10**9
"""A folder that had changed so shortly before it was scanned is scanned once more: the times of some file
systems have a step of 2 s, and another change within the step would not be noticed."""
_UNKNOWN_NS = -1
_PART = 500
"""The sessions of a folder that are read at once, which takes 10 ms."""
_Pending = tuple[bool, int, int, int, Folder]
"""A folder that waits for its scan: what orders it, its modification time, and itself."""


class Tree:
    """All folders that are known. It reads them, and records in the candidates what was found there."""

    def __init__(self, roots: Callable[[], Roots], candidates: Candidates, uid: int) -> None:
        """Create the tree; nothing is read yet.

        Args:
            roots: Returns the folders to begin with, which may not exist.
            candidates: Is given what was found.
            uid: The user whose files count.
        """
        self.problems: dict[str, OSError] = {}
        """Why a file could not be read when that was tried last, by its path."""
        self._new_roots = roots
        self._candidates = candidates
        self._uid = uid
        self._roots: Roots = {}
        self._known: dict[str, Folder] = {}
        """The folders below the roots, by their paths."""
        self._queue: deque[Folder] = deque()
        """All folders, in the order in which they are due for a full scan."""
        self._polled: dict[int, float] = {}
        """When each folder of databases was read last, by its identity: a monotonic time in seconds."""
        self._order = count()

    def find_roots(self) -> list[Folder]:
        """Return the roots that were not there before, such as those that a link leads to since then."""
        new = {key: folder for key, folder in self._new_roots().items() if key not in self._roots}
        self._roots |= new
        self._queue.extend(new.values())
        return list(new.values())

    def explore(self, folders: Iterable[Folder], first: Container[str] = ()) -> Iterator[set[Key]]:
        """Scan folders and all folders that are new in them, those that were changed last first.

        Args:
            folders: The folders.
            first: The paths of folders that come before all others.

        Yields:
            The sessions that may have changed, after each folder with sessions.
        """
        pending: list[_Pending] = []
        for folder in folders:
            yield from self._enter(folder, pending, first)
        while pending:
            *_, changed_ns, folder = heappop(pending)
            for each in (yield from self._scan(folder, changed_ns)):
                yield from self._enter(each, pending, first)

    def changed(self) -> Iterator[set[Key]]:
        """Scan the folders whose modification time has changed; databases are compared themselves."""
        now_ns = time.time_ns()
        for folder in [*self._roots.values(), *self._known.values()]:
            known_ns = folder.changed_ns
            if known_ns != _UNKNOWN_NS and known_ns + folder.kind.cools_after_s * 10**9 < now_ns:
                continue
            changed_ns = own_folder(folder.path, self._uid)
            if changed_ns is None:
                yield self._forget(folder)
            elif changed_ns != known_ns:
                yield from self.explore([folder])
            elif folder.kind.is_polled:
                yield self.poll(folder)

    def due(self, now: float, share: float) -> Iterator[set[Key]]:
        """Scan the folders that were not scanned for a minute.

        Args:
            now: The time, in seconds of the caller's clock.
            share: The share of all folders that is scanned at most, so that they do not all come at once.
        """
        for _ in range(int(len(self._queue) * share) + 1):
            if not self._queue or now - self._queue[0].passed_at < FULL_PASS_S:
                return
            folder = self._queue.popleft()
            if self._is_known(folder):
                folder.passed_at = now
                self._queue.append(folder)
                yield from self.explore([folder])

    def poll(self, folder: Folder) -> set[Key]:
        """Compare the files of a folder of databases, at most once a second."""
        now = time.monotonic()
        if now - self._polled.get(id(folder), -_POLL_S) < _POLL_S:
            return set()
        self._polled[id(folder)] = now
        return set().union(*self._take(folder, self._stamps(folder, folder.files)))

    def restat(self, candidate: Candidate) -> set[Key]:
        """Compare the files of one session."""
        folder, owner = candidate.folder, candidate.owner
        if folder.kind.is_polled:
            return self.poll(folder)
        changed = []
        for name in (owner, *folder.kind.beside(owner)):
            stamp = regular_file(os.path.join(folder.path, name), self._uid)
            if stamp != folder.files.get(name):
                changed.append(name)
                if stamp is None:
                    del folder.files[name]
                else:
                    folder.files[name] = stamp
        if not changed:
            return set()
        _warm(folder, candidate.found.id)
        return self._read(folder, owner, changed)

    def _enter(self, folder: Folder, pending: list[_Pending], first: Container[str]) -> Iterator[set[Key]]:
        """Put a folder with sessions among those that wait for a scan; scan a folder of folders at once."""
        waiting = [folder]
        while waiting:
            each = waiting.pop()
            changed_ns = own_folder(each.path, self._uid)
            if changed_ns is None:
                yield self._forget(each)
            elif each.kind.holds_sessions:
                heappush(pending, (each.path not in first, -changed_ns, next(self._order), changed_ns, each))
            else:
                waiting += yield from self._scan(each, changed_ns)

    def _scan(self, folder: Folder, changed_ns: int) -> Generator[set[Key], None, list[Folder]]:
        """Scan a folder; yield the sessions that may have changed, return the folders that are new in it."""
        try:
            entries = entries_of(folder, self._uid)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            yield self._forget(folder)
            return []
        except OSError:  # such as too many open files: what was known still holds
            folder.changed_ns = _UNKNOWN_NS
            return []
        is_fresh = abs(time.time_ns() - changed_ns) < _FRESH_NS
        folder.changed_ns = _UNKNOWN_NS if is_fresh else changed_ns
        if folder.kind.is_polled:
            self._polled[id(folder)] = time.monotonic()
        yield from self._take(folder, entries.files)
        for name in folder.folders.keys() - entries.folders.keys():
            gone = folder.folders.pop(name)
            self._known.pop(gone.path, None)
            yield self._forget(gone)
        new = []
        for name, kind in entries.folders.items():
            if name not in folder.folders:
                path = os.path.join(folder.path, name)
                each = folder.folders[name] = self._known[path] = Folder(path, kind)
                self._queue.append(each)
                new.append(each)
        return new

    def _stamps(self, folder: Folder, names: Iterable[str]) -> dict[str, Stamp]:
        stamps = ((name, regular_file(os.path.join(folder.path, name), self._uid)) for name in names)
        return {name: stamp for name, stamp in stamps if stamp is not None}

    def _take(self, folder: Folder, files: dict[str, Stamp]) -> Iterator[set[Key]]:
        """Replace the files of a folder; yield the sessions that may have changed, newest first, in parts.

        A folder of 100,000 sessions takes 2 s, and its newest ones are to be shown before.
        """
        before, folder.files = folder.files, files
        if files == before:
            return
        changed: dict[str, list[str]] = {}
        for name in {**before, **files}:
            owner = folder.kind.owner(name)
            if owner is not None and before.get(name) != files.get(name):
                changed.setdefault(owner, []).append(name)
        newest = iter(sorted(changed.items(), key=lambda item: -_changed_ns(files.get(item[0]))))
        while part := list(islice(newest, _PART)):
            yield set().union(*(self._read(folder, owner, names) for owner, names in part))

    def _read(self, folder: Folder, owner: str, changed: list[str]) -> set[Key]:
        """Read what is known of the sessions in a file, and return those that may have changed.

        Of a file that cannot be read, what was known holds.
        """
        previous = folder.founds.get(owner, ())
        spot = Spot(folder, owner, previous, changed)
        self.problems.pop(spot.path, None)
        try:
            with reading(spot.path):
                found = folder.kind.read(spot)
        except OSError as error:
            if is_problem(error, is_known=bool(previous)):
                self.problems[spot.path] = error
            return set()
        if found:
            folder.founds[owner] = found
        else:
            folder.founds.pop(owner, None)
        return self._candidates.replace(folder, owner, previous, found)

    def _forget(self, folder: Folder) -> set[Key]:
        """Forget what was in a folder that is gone or cannot be read, and the folders in it."""
        touched: set[Key] = set()
        waiting = [folder]
        while waiting:
            each = waiting.pop()
            touched.update(*self._take(each, {}))
            waiting += each.folders.values()
            each.folders = {}
            each.changed_ns = _UNKNOWN_NS
            if each is not folder:
                self._known.pop(each.path, None)
        return touched

    def _is_known(self, folder: Folder) -> bool:
        return self._known.get(folder.path) is folder or any(folder is each for each in self._roots.values())


def _changed_ns(stamp: Stamp | None) -> int:
    """Return the modification time of a file; 0 if it is gone."""
    return 0 if stamp is None else stamp.changed_ns


def _warm(folder: Folder, session_id: str) -> None:
    """Let the next look scan the folders of a session that goes on: it may get subagents, however old it is.

    They lie in a folder with the id of the session, or in the one in which the session lies itself.
    """
    own = folder.folders.get(session_id)
    waiting = [own] if own is not None else []
    if folder.name == session_id:
        waiting += folder.folders.values()
    while waiting:
        each = waiting.pop()
        each.changed_ns = _UNKNOWN_NS
        waiting += each.folders.values()
