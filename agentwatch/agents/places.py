"""How the files of an agent lie in its folders. Each agent describes its own in its `program.py`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.session_entry import NO_METADATA, Metadata, Reach, SessionEntry
from agentwatch.base.clock import wall_ns

HOUR_S = 3600
_FRESH_NS = 20_000_000
"""The time of a file advances in steps of up to 10 ms. A file of this age may change again without a change
of its time."""


class Stamp(NamedTuple):
    size: int
    changed_ns: int
    """The modification time, in nanoseconds since the epoch."""
    inode: int

    @property
    def is_settled(self) -> bool:
        """Whether the next change will also change the time of the file."""
        return not 0 <= wall_ns() - self.changed_ns < _FRESH_NS


class Spot(NamedTuple):
    """A file with a session, or with many of them, which is read for the first time or has changed."""

    folder: Folder
    name: str
    previous: Sequence[SessionEntry]
    """The sessions that were found in it so far."""
    changed: Collection[str]
    """The names of those files that belong to it, itself included, that are new, changed or deleted."""
    path: str

    @property
    def stamp(self) -> Stamp | None:
        return self.folder.files.get(self.name)


_as_before: Callable[[Spot], Sequence[SessionEntry]] = attrgetter("previous")


class Kind(NamedTuple):
    """The kind of a folder: which of its files are sessions, and how they are read."""

    agent: str
    owner: Callable[[str], str | None] = lambda _: None
    """Returns the name of the file with the session that a file belongs to; None for a file that does not
    matter. A file that describes a session beside it belongs to the file with the session."""
    read: Callable[[Spot], Sequence[SessionEntry]] = _as_before
    beside: Callable[[str], tuple[str, ...]] = lambda _: ()
    below: Callable[[str], Kind | None] = lambda _: None
    cools_after_s: float = math.inf
    """A folder that has not changed for this time, in seconds, is scanned only once a minute: agents do not
    put new sessions there."""
    urgent: Callable[[str], set[str]] = lambda _: set()
    """Takes the folder, and returns those below it in which a session is open now, which are read first."""
    is_polled: bool = False
    """Whether its files are compared at each poll, because they change without the folder: databases."""

    @property
    def holds_sessions(self) -> bool:
        return self.read is not _as_before


class Folder:
    __slots__ = (
        *("changed_ns", "files", "folders", "founds", "is_watched", "kind", "passed_at", "path"),
        "scanned_at",
    )

    def __init__(self, path: str, kind: Kind) -> None:
        self.path = path
        self.kind = kind
        self.changed_ns = -1
        """Its modification time when it was scanned; -1 if it must be scanned again."""
        self.passed_at = -math.inf
        """The time at which its last full pass was due, in seconds of the caller's clock."""
        self.scanned_at = -math.inf
        """The time of its last full pass."""
        self.is_watched = False
        """Whether the system notes what changes in it."""
        self.files: dict[str, Stamp] = {}
        self.founds: dict[str, Sequence[SessionEntry]] = {}
        self.folders: dict[str, Folder] = {}

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    def parent(self, levels: int = 1) -> str:
        path = self.path
        for _ in range(levels):
            path = os.path.dirname(path)
        return path


def one_file(
    spot: Spot,
    session_id: str,
    *,
    parent: str | None = None,
    metadata: Metadata = NO_METADATA,
    reach: Reach = Reach.LINES,
) -> list[SessionEntry]:
    stamp = spot.stamp
    if stamp is None or not session_id:
        return []
    size, changed_ns, inode = stamp
    agent, path = spot.folder.kind.agent, spot.previous[0].path if spot.previous else Path(spot.path)
    return [SessionEntry(agent, session_id, path, size, changed_ns, inode, reach, parent, metadata)]


def owns(suffix: str | tuple[str, ...], prefix: str = "") -> Callable[[str], str | None]:
    def owner(name: str) -> str | None:
        return name if name.endswith(suffix) and name.startswith(prefix) else None

    return owner


def stem_is_id(spot: Spot) -> list[SessionEntry]:
    return one_file(spot, spot.name.removesuffix(".jsonl"))


def any_folder(kind: Kind) -> Callable[[str], Kind | None]:
    return lambda _: kind
