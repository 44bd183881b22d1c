"""The files of each session: mostly one, but a session may lie in two forms, or be described elsewhere."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agentwatch.wire.found import Found, Key, Metadata, Reach
from agentwatch.wire.places import Folder

_WORST_SUFFIXES = (".json", ".zst")
"""A session that lies in two forms is read from the other one, or else from the later of these: an old JSON
document is not written any more once its session goes on in lines, and neither is a compressed rollout."""


class Changes(NamedTuple):
    """What has changed on disk."""

    found: list[Found]
    """The sessions that are new or have changed, newest first."""
    vanished: list[Key]


class Candidate(NamedTuple):
    """A place where a session lies."""

    found: Found
    folder: Folder
    owner: str
    """The name of the file in the folder."""


class Candidates:
    """All places of all sessions, and what was last reported of each session."""

    def __init__(self) -> None:
        self._of: dict[Key, tuple[Candidate, ...]] = {}
        self._reported: dict[Key, Found] = {}

    def of(self, key: Key) -> tuple[Candidate, ...]:
        """Return the places of a session; none if it is not known."""
        return self._of.get(key, ())

    def replace(self, folder: Folder, owner: str, old: Sequence[Found], new: Sequence[Found]) -> set[Key]:
        """Replace what was found in a file, and return the sessions that may have changed by it."""
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
        """Return how sessions differ from what was last reported of them."""
        found: list[Found] = []
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
        return Changes(sorted(found, key=_age), vanished)


def _age(found: Found) -> int:
    return -found.changed_ns


def _joined(founds: list[Found]) -> Found:
    """Return one session of all that was found about it: the best address, with all that is known."""
    if len(founds) == 1:
        return founds[0]
    best, *rest = sorted(founds, key=_worth, reverse=True)
    metadata = best.metadata
    for other in rest:
        metadata = _filled(metadata, other.metadata)
    parent = next((each.parent for each in (best, *rest) if each.parent is not None), None)
    return best._replace(metadata=metadata, parent=parent)


def _worth(found: Found) -> tuple[bool, int, int]:
    suffix = found.path.suffix
    rank = _WORST_SUFFIXES.index(suffix) if suffix in _WORST_SUFFIXES else len(_WORST_SUFFIXES)
    return found.reach is not Reach.LISTED, rank, found.changed_ns


def _filled(known: Metadata, other: Metadata) -> Metadata:
    """Return metadata, with what is unknown in it taken from another place."""
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
    )
