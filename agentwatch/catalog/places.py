"""All sessions of all agents on this machine, found in their folders and kept up to date. Files that cannot
be read become notes; all other sessions are listed.
"""

from __future__ import annotations

import errno
import math
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from itertools import chain, count, islice
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.description_files import folder_in, json_object, stamp_of, text_in, time_in
from agentwatch.agents.first_use import imported
from agentwatch.agents.places import Folder, Kind, Spot, Stamp, one_file
from agentwatch.agents.program import Program
from agentwatch.agents.registry import AGENTS, programs, session_folders
from agentwatch.agents.session_entry import NO_METADATA, Key, Metadata, Reach, SessionEntry
from agentwatch.base.clock import wall_ns
from agentwatch.base.faults import cannot_open, reading
from agentwatch.recording.store import sessions_folder
from agentwatch.recording.write_lock import MOST_BYTES as MOST_RECORDED_BYTES
from agentwatch.sources.folder_watch import FolderWatch
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, safe_line


def _recording_owner(name: str) -> str | None:
    stem, suffix = os.path.splitext(name)
    return f"{stem}.ndjson" if suffix in (".ndjson", ".json", ".sent") else None


def _recording(spot: Spot) -> list[SessionEntry]:
    stem = spot.name.removesuffix(".ndjson")
    metadata = spot.previous[0].metadata if spot.previous else NO_METADATA
    if f"{stem}.json" in spot.changed:
        metadata = recorded_metadata(os.path.join(spot.folder.path, f"{stem}.json"))
    found = one_file(spot, stem, metadata=metadata)
    if (sent := spot.folder.files.get(f"{stem}.sent")) is None:
        return found
    return [
        each._replace(size=each.size + sent.size, changed_ns=max(each.changed_ns, sent.changed_ns))
        for each in found
    ]


def recorded_metadata(path: str) -> Metadata:
    """What `STEM.json` says about a recording of our own."""
    described = json_object(path, MOST_RECORDED_BYTES)
    name, code = text_in(described.get("name")), described.get("exit_code")
    return Metadata(
        title=name,
        is_users_title=bool(name),
        cwd=folder_in(described.get("cwd")),
        began_ms=time_in(described.get("started_ms")),
        exit_code=code if type(code) is int and 0 <= code < 256 else None,
    )


def _description_of(owner: str) -> tuple[str, ...]:
    stem = owner.removesuffix(".ndjson")
    return f"{stem}.json", f"{stem}.sent"


RECORDINGS = Kind("agentwatch", _recording_owner, _recording, _description_of)


Roots = dict[tuple[str, str], Folder]
"""Folders to begin with, by the agent and the path."""


class Layouts:
    """The folders to begin with, which may not exist yet."""

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        self._environ = environ
        self._home = home
        self._of: dict[tuple[str, str], Kind] = {
            (program.name, each.part): _kind_of(program, each.layout)
            for program in programs()
            for each in program.sessions
        }
        self._named: list[tuple[str, str, str, Kind]] = []
        """The databases that a variable names: the agent, the folder, the name, and the kind of folder."""
        for program in programs():
            if program.database and os.path.isabs(path := environ.get(program.database.variable, "")):
                folder, name = os.path.split(path)
                kind = _kind_of(program, program.database.layout, name)
                self._named.append((program.name, folder, name, kind))

    def roots(self) -> Roots:
        """Return new folders, each once. Links in their paths are followed now."""
        found: Roots = {}
        for agent, part, path in session_folders(self._environ, self._home):
            found.setdefault((agent, path), Folder(path, self._of[agent, part]))
        for agent, folder, name, kind in self._named:
            path = os.path.realpath(folder)
            usual = found.get((agent, path))
            if usual is None or usual.kind.owner(name) is None:
                found[name, path] = Folder(path, kind)
        own = os.path.realpath(sessions_folder(self._environ))
        found["agentwatch", own] = Folder(own, RECORDINGS)
        return found


def _kind_of(program: Program, layout: str | Callable[..., Kind], *arguments: str) -> Kind:
    if program.name not in AGENTS:
        from agentwatch.agents.plugins.programs import kind_of

        return kind_of(program.name, layout, *arguments)
    found: Kind = imported(layout)(*arguments)
    return found


_WORST_SUFFIXES = (".json", ".zst")
"""A session that lies in two forms is read from the other one, or else from the later of these: an old JSON
document is not written any more once its session continues in lines, and neither is a compressed rollout."""


class Changes(NamedTuple):
    found: list[SessionEntry]
    """The sessions that are new or have changed, newest first."""
    vanished: list[Key]


class Candidate(NamedTuple):
    found: SessionEntry
    folder: Folder
    owner: str
    """The name of the file in the folder."""


class Candidates:
    def __init__(self) -> None:
        self._of: dict[Key, tuple[Candidate, ...]] = {}
        self._reported: dict[Key, SessionEntry] = {}

    def of(self, key: Key) -> tuple[Candidate, ...]:
        """Return no candidates if the session is not known."""
        return self._of.get(key, ())

    def __contains__(self, key: Key) -> bool:
        return key in self._of

    def replace(
        self, folder: Folder, owner: str, old: Sequence[SessionEntry], new: Sequence[SessionEntry]
    ) -> set[Key]:
        """Replace what was found in a file; return the sessions that may have changed by it."""
        touched = set()
        kept = {id(found) for found in new}
        for found in old:
            if id(found) not in kept:
                touched.add(found.key)
                rest = tuple(each for each in self._of.get(found.key, ()) if each.found is not found)
                if rest:
                    self._of[found.key] = rest
                else:
                    self._of.pop(found.key, None)
        had = {id(found) for found in old}
        for found in new:
            if id(found) not in had:
                touched.add(found.key)
                self._of[found.key] = (*self._of.get(found.key, ()), Candidate(found, folder, owner))
        return touched

    def changes(self, touched: Iterable[Key]) -> Changes:
        found: list[SessionEntry] = []
        vanished: list[Key] = []
        for key in touched:
            candidates = self._of.get(key)
            if candidates is None:
                if self._reported.pop(key, None) is not None:
                    vanished.append(key)
                continue
            session = _joined([each.found for each in candidates])
            if session != self._reported.get(key):
                self._reported[key] = session
                found.append(session)
        return Changes(sorted(found, key=lambda each: -each.changed_ns), vanished)


def _joined(founds: list[SessionEntry]) -> SessionEntry:
    """The best address of all files, with the facts of all of them."""
    if len(founds) == 1:
        return founds[0]
    best, *rest = sorted(founds, key=_worth, reverse=True)
    metadata = best.metadata
    for other in rest:
        metadata = _filled(metadata, other.metadata)
    parent = next((each.parent for each in (best, *rest) if each.parent is not None), None)
    return best._replace(metadata=metadata, parent=parent)


def _worth(found: SessionEntry) -> tuple[bool, int, int]:
    suffix = found.path.suffix
    rank = _WORST_SUFFIXES.index(suffix) if suffix in _WORST_SUFFIXES else len(_WORST_SUFFIXES)
    return found.reach is not Reach.LISTED, rank, found.changed_ns


def _filled(known: Metadata, other: Metadata) -> Metadata:
    """What is unknown in the first is taken from the other."""
    return Metadata(
        title=known.title or other.title,
        is_users_title=(known if known.title else other).is_users_title,
        prompt=known.prompt or other.prompt,
        cwd=other.cwd if known.cwd is None else known.cwd,
        branch=other.branch if known.branch is None else known.branch,
        model=other.model if known.model is None else known.model,
        began_ms=other.began_ms if known.began_ms is None else known.began_ms,
        changed_ms=other.changed_ms if known.changed_ms is None else known.changed_ms,
        is_archived=known.is_archived,
        exit_code=known.exit_code,
    )


_MOST_ENTRIES = 100_000
"""The rest of a larger folder is not listed."""


class Entries(NamedTuple):
    files: dict[str, Stamp]
    folders: dict[str, Kind]


def entries_of(folder: Folder, uid: int) -> Entries:
    """The regular files and folders of the user, no links. A name with a character that cannot be printed is
    left out: no agent writes one, and it could be neither shown nor typed. Raise `OSError`."""
    files: dict[str, Stamp] = {}
    folders: dict[str, Kind] = {}
    owner, below = folder.kind.owner, folder.kind.below
    with os.scandir(folder.path) as entries:
        for entry in islice(entries, _MOST_ENTRIES):
            name = entry.name
            if not name.isprintable():
                continue
            if owner(name) is not None:
                if (stamp := stamp_of(entry, uid)) is not None:
                    files[name] = stamp
            elif (kind := below(name)) is not None and entry.is_dir(follow_symlinks=False):
                folders[name] = kind
    return Entries(files, folders)


def own_folder(path: str, uid: int) -> int | None:
    """Its modification time in ns; None if it is not such a folder."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns if stat.S_ISDIR(status.st_mode) and status.st_uid == uid else None


_MOST_NAMED = 10
_EXPECTED = (errno.ENOENT, errno.ENOTDIR, errno.ENOTSUP)
"""A file has just been removed, or needs a package that is not installed. Opening it gives the reason."""


def is_problem(error: OSError, *, is_known: bool) -> bool:
    """Whether the user should know. A file that `is_known`, if an agent writes it now, is read again soon."""
    return error.errno not in _EXPECTED and not (is_known and error.errno == errno.EBUSY)


def notes_of(problems: Iterable[OSError]) -> tuple[SafeText, ...]:
    """A line for each file that cannot be read; those after the tenth are counted in one."""
    faults = {f"{each.filename}": each for each in problems}
    lines = [f"{cannot_open(Path(name), error)}" for name, error in sorted(faults.items())]
    if len(lines) > _MOST_NAMED:
        lines[_MOST_NAMED:] = [f"{plural(len(lines) - _MOST_NAMED, 'other file')} cannot be opened"]
    return tuple(map(safe_line, lines))


FULL_PASS_S = 60
"""Each folder is scanned again after this time, with its stamps: a growing file does not change it."""
_WATCHED_PASS_S = 600
"""The same for a folder that is watched."""
_POLL_S = 1.0
"""The shortest time between two readings of a database."""
_FRESH_NS = 2 * 10**9
"""A folder that had changed so shortly before it was scanned is scanned once more: the times of some file
systems have a step of 2 s, and another change within the step would not be noticed."""
_UNKNOWN_NS = -1
_PART = 500
"""The sessions of a folder that are read at once, which takes 10 ms."""
Known = tuple[int, int, str, str]
"""The size and the modification time of a file, and the agent and the id of its session."""
_NO_FILE = (None, None)
_Pending = tuple[bool, int, int, int, Folder]
"""What orders it, its modification time, and itself."""


class Tree:
    """All folders that are known. It notes in the candidates what it finds there. `roots` returns the folders
    to begin with, which may not exist. Creating it reads nothing."""

    def __init__(
        self, roots: Callable[[], Roots], candidates: Candidates, uid: int, known: Mapping[str, Known]
    ) -> None:
        self.problems: dict[str, OSError] = {}
        self.unread: dict[str, tuple[Folder, str]] = {}
        """The files, by their paths, that are left out because they are as they are known."""
        self._as_known = known
        self._new_roots = roots
        self._candidates = candidates
        self._uid = uid
        self._roots: Roots = {}
        self._known: dict[str, Folder] = {}
        self._queue: deque[Folder] = deque()
        """The folders in the order in which they are due for a full scan."""
        self._polled: dict[int, float] = {}
        """The monotonic times in seconds at which folders of databases were read, by their identity."""
        self._order = count()
        self._watch: FolderWatch | None = None
        self._noted: dict[tuple[Folder, str], set[str]] = {}
        """The files that may have changed, by their watched folder and the file with the session."""
        self._stirred: dict[Folder, None] = {}
        """The watched folders in which something is new, or which are not watched any more."""

    def begin_to_watch(self) -> None:
        """Let each folder be watched from its next scan on."""
        self._watch = FolderWatch()

    def take_notes(self) -> None:
        notes = [] if self._watch is None else self._watch.notes()
        if notes is None:  # some were lost
            for folder in self._folders():
                folder.is_watched, folder.scanned_at = False, -math.inf
            return
        for path, name, is_folder, is_entry in notes:
            for folder in self._at(path):
                kind = folder.kind
                owner = None if is_folder else kind.owner(name)
                if not name:
                    self._unwatch(folder)
                elif owner is not None and name in folder.files:
                    self._noted.setdefault((folder, owner), set()).add(name)
                elif is_entry and (owner is not None or (is_folder and kind.below(name) is not None)):
                    self._stirred[folder] = None

    def may_differ(self, candidate: Candidate) -> bool:
        return not candidate.folder.is_watched or (candidate.folder, candidate.owner) in self._noted

    def noted(self) -> Iterator[set[Key]]:
        """Read the files of which a change was noted."""
        noted, self._noted = self._noted, {}
        for (folder, owner), names in noted.items():
            yield self._restat(folder, owner, names)

    def _folders(self) -> list[Folder]:
        return [*self._roots.values(), *self._known.values()]

    def _at(self, path: str) -> list[Folder]:
        """The folders at a path: several agents may keep sessions in the same one."""
        known = self._known.get(path)
        found = [each for each in self._roots.values() if each.path == path]
        return found if known is None else [*found, known]

    def _unwatch(self, folder: Folder) -> None:
        if self._watch is not None:
            self._watch.remove(folder.path)
            for each in (folder, *self._at(folder.path)):
                each.is_watched, each.scanned_at, each.changed_ns = False, -math.inf, _UNKNOWN_NS

    def find_roots(self) -> list[Folder]:
        """The roots that were not there before, such as those that a link leads to since then."""
        new = {key: folder for key, folder in self._new_roots().items() if key not in self._roots}
        self._roots |= new
        self._queue.extend(new.values())
        return list(new.values())

    def explore(self, folders: Iterable[Folder], first: Container[str] = ()) -> Iterator[set[Key]]:
        """Scan folders and all that are new in them, those changed last first, but `first` before all others.
        Yield the sessions that may have changed after each folder."""
        pending: list[_Pending] = []
        for folder in folders:
            yield from self._enter(folder, pending, first)
        while pending:
            *_, changed_ns, folder = heappop(pending)
            for each in (yield from self._scan(folder, changed_ns)):
                yield from self._enter(each, pending, first)

    def changed(self) -> Iterator[set[Key]]:
        """Scan folders whose modification time has changed; databases are compared themselves."""
        now_ns = wall_ns()
        stirred, self._stirred = self._stirred, {}
        for folder in self._folders():
            if folder.is_watched and folder not in stirred and folder.path in self._known:
                continue
            known_ns = _UNKNOWN_NS if folder in stirred else folder.changed_ns
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
        """Scan folders that were not scanned for a minute, at most `share` of all, so that they do not all
        come at once. `now` is in seconds of the caller's clock."""
        for _ in range(int(len(self._queue) * share) + 1):
            if not self._queue or now - self._queue[0].passed_at < FULL_PASS_S:
                return
            folder = self._queue.popleft()
            if self._is_known(folder):
                folder.passed_at = now
                self._queue.append(folder)
                if folder.is_watched and folder.scanned_at == -math.inf:
                    folder.scanned_at = now  # it was scanned when it began to be watched
                elif not folder.is_watched or now - folder.scanned_at >= _WATCHED_PASS_S:
                    folder.scanned_at = now
                    yield from self.explore([folder])

    def poll(self, folder: Folder) -> set[Key]:
        """Compare the files of a folder of databases, at most once a second."""
        now = time.monotonic()
        if now - self._polled.get(id(folder), -_POLL_S) < _POLL_S:
            return set()
        self._polled[id(folder)] = now
        stamps = ((name, stamp_of(os.path.join(folder.path, name), self._uid)) for name in folder.files)
        return set().union(*self._take(folder, {name: stamp for name, stamp in stamps if stamp is not None}))

    def restat(self, candidate: Candidate) -> set[Key]:
        folder, owner = candidate.folder, candidate.owner
        if folder.is_watched:
            return self._restat(folder, owner, self._noted.pop((folder, owner), ()))
        if folder.kind.is_polled:
            return self.poll(folder)
        return self._restat(folder, owner, (owner, *folder.kind.beside(owner)))

    def _restat(self, folder: Folder, owner: str, names: Iterable[str]) -> set[Key]:
        changed = []
        for name in names:
            stamp = stamp_of(f"{folder.path}/{name}", self._uid)
            if stamp != folder.files.get(name):
                changed.append(name)
                if stamp is None:
                    del folder.files[name]
                else:
                    folder.files[name] = stamp
        if not changed:
            return set()
        for found in folder.founds.get(owner, ()):
            _warm(folder, found.id)
        return self._read(folder, owner, changed)

    def _enter(self, folder: Folder, pending: list[_Pending], first: Container[str]) -> Iterator[set[Key]]:
        """Put a folder with sessions among those that wait; scan a folder of folders at once."""
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
        """Yield the sessions that may have changed, return the folders that are new in it."""
        if self._watch is not None and not folder.kind.is_polled:
            folder.is_watched = self._watch.add(folder.path)
        try:
            entries = entries_of(folder, self._uid)
        except (FileNotFoundError, NotADirectoryError):
            yield self._forget(folder)
            return []
        except PermissionError as error:
            yield self._forget(folder)
            self.problems[folder.path] = error
            return []
        except OSError:  # such as too many open files: what was known still holds
            folder.changed_ns = _UNKNOWN_NS
            return []
        self.problems.pop(folder.path, None)
        is_fresh = abs(wall_ns() - changed_ns) < _FRESH_NS
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

    def _take(self, folder: Folder, files: dict[str, Stamp]) -> Iterator[set[Key]]:
        """Yield the sessions that may have changed, newest first, in parts: a folder of 100,000 takes 2 s."""
        before, folder.files = folder.files, files
        if files == before:
            return
        changed: dict[str, list[str]] = {}
        for name in {**before, **files}:
            owner = folder.kind.owner(name)
            if owner is not None and before.get(name) != files.get(name):
                changed.setdefault(owner, []).append(name)
        for owner, names in [*changed.items()] if self._as_known else ():
            path = f"{folder.path}/{owner}"
            if names == [owner] and files.get(owner, ())[:2] == self._as_known.get(path, _NO_FILE)[:2]:
                self.unread[path] = folder, owner
                del changed[owner]
        newest = iter(sorted(changed.items(), key=lambda item: -_changed_ns(files.get(item[0]))))
        while part := list(islice(newest, _PART)):
            yield set().union(*(self._read(folder, owner, names) for owner, names in part))

    def read_joined(self) -> Iterator[set[Key]]:
        """Read the files that are as they are known of sessions of which another file was read."""
        for path in [path for path in self.unread if self._as_known[path][2:] in self._candidates]:
            folder, owner = self.unread.pop(path)
            yield self._read(folder, owner, [owner])

    def _read(self, folder: Folder, owner: str, changed: list[str]) -> set[Key]:
        """Return the sessions that may have changed. A file that cannot be read keeps its last state."""
        previous = folder.founds.get(owner, ())
        path = os.path.join(folder.path, owner)
        spot = Spot(folder, owner, previous, changed, path)
        self.problems.pop(path, None)
        try:
            with reading(path):
                found = folder.kind.read(spot)
        except OSError as error:
            if is_problem(error, is_known=bool(previous)):
                self.problems[path] = error
            return set()
        if found:
            folder.founds[owner] = found
        else:
            folder.founds.pop(owner, None)
        return self._candidates.replace(folder, owner, previous, found)

    def _forget(self, folder: Folder) -> set[Key]:
        """Forget the entries of a folder that does not exist or cannot be read, and the folders in it."""
        touched: set[Key] = set()
        waiting = [folder]
        while waiting:
            each = waiting.pop()
            touched.update(*self._take(each, {}))
            waiting += each.folders.values()
            each.folders = {}
            self._unwatch(each)
            each.changed_ns = _UNKNOWN_NS
            self.problems.pop(each.path, None)
            if each is not folder:
                self._known.pop(each.path, None)
        return touched

    def _is_known(self, folder: Folder) -> bool:
        return self._known.get(folder.path) is folder or any(folder is each for each in self._roots.values())


def _changed_ns(stamp: Stamp | None) -> int:
    return 0 if stamp is None else stamp.changed_ns


def _warm(folder: Folder, session_id: str) -> None:
    """Let the next pass scan the folders of a session that continues: it may get subagents at any age. They
    lie in a folder with the id of the session, or in the one in which the session lies itself."""
    own = folder.folders.get(session_id)
    waiting = [own] if own is not None else []
    if folder.name == session_id:
        waiting += folder.folders.values()
    while waiting:
        each = waiting.pop()
        each.changed_ns = _UNKNOWN_NS
        waiting += each.folders.values()


PASS_S = 2.0
"""The polling interval for the modification times of all folders, in seconds."""
_LEAST_SHARE = 2 * PASS_S / FULL_PASS_S
"""The share of the folders that one look scans fully: all within half a minute, none of them at once."""
_BATCH_S = 0.02
"""Batches come at this distance, so that the first rows are shown long before the last folder is read."""


class Places:
    """One thread uses it. Files of other users than `uid` are left out. Creating it reads nothing."""

    def __init__(
        self, environ: Mapping[str, str], home: Path, uid: int, known: Mapping[str, Known] | None = None
    ) -> None:
        self._candidates = Candidates()
        self._tree = Tree(Layouts(environ, home).roots, self._candidates, uid, known or {})
        self.problems: Mapping[str, OSError] = self._tree.problems
        self.unread: AbstractSet[str] = self._tree.unread.keys()
        """The paths of sessions that `first` leaves out because they are as they are `known`."""
        self._passed_at = -math.inf
        """The time of the last pass, in seconds of the caller's clock."""
        self._roots_at = -math.inf

    def first(self, *, stays_open: bool = False) -> Iterator[list[SessionEntry]]:
        """Yield all sessions in batches, last changed folders first; one again if more was found of it. A
        list that `stays_open` watches the folders from their first scan on."""
        if stays_open:
            self._tree.begin_to_watch()
        touched: set[Key] = set()
        yielded_at = -math.inf
        roots = self._tree.find_roots()
        urgent = set().union(*(root.kind.urgent(root.path) for root in roots))
        for keys in self._tree.explore(roots, urgent):
            touched |= keys
            if touched and time.monotonic() - yielded_at >= _BATCH_S:
                yield self._candidates.changes(touched).found
                touched = set()
                yielded_at = time.monotonic()
        touched.update(*self._tree.read_joined())
        if touched:
            yield self._candidates.changes(touched).found

    def refresh(self, now: float) -> Changes:
        """Look at the folders, and at a part of all files: at each within a minute, if this is called every
        2 s. `now` is in seconds of a clock that is never set back. Return what has changed since the last
        report."""
        passed_s = now - self._passed_at
        self._passed_at = now
        self._tree.take_notes()
        touched = set().union(*self._tree.noted())
        if now - self._roots_at >= FULL_PASS_S:
            self._roots_at = now
            touched.update(*self._tree.explore(self._tree.find_roots()))
        touched.update(*self._tree.changed())
        share = min(1.0, 2 * passed_s / FULL_PASS_S) if math.isfinite(passed_s) else _LEAST_SHARE
        touched.update(*self._tree.due(now, share))
        return self._candidates.changes(touched)

    def check(self, keys: Iterable[Key]) -> Changes:
        """Look at the files of some sessions only. Return what has changed since the last report."""
        self._tree.take_notes()
        touched: set[Key] = set()
        for candidate in chain.from_iterable(map(self._candidates.of, keys)):
            if self._tree.may_differ(candidate):
                touched |= self._tree.restat(candidate)
        return self._candidates.changes(touched)
