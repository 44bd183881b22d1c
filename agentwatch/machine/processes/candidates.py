"""The sessions that may belong to a process, by their folder and by their last change."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter

from agentwatch.wire.found import Key


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
