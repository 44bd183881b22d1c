"""The reads and changes of each file, as far as episodes need them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from agentwatch.analysis.files import TouchedFile, is_back_to_start, named
from agentwatch.events import ToolKind
from agentwatch.feed import Feed
from agentwatch.session import Call, Session

_MOST_FILES = 20_000
"""Files that are remembered, 400 bytes each. The oldest is forgotten first."""
_MOST_PARTS = 100


@dataclass(slots=True, eq=False)
class File:
    """A file, and the calls about it, by their numbers."""

    shown: str
    """The path as it is shown."""
    known_from: int | None = None
    """The offset of the line that first read or created the file."""
    first_change: int = 0
    last_change: int = 0
    changes: int = 0
    may_be_changed: bool = False
    """Whether a change has no known outcome."""
    reads: dict[tuple[int | None, int, str | None], list[int]] = field(default_factory=dict)
    """The first read and the number of reads since the last change, by subagent, run and note."""

    def read(self, call: Call) -> tuple[int, int]:
        """Add a read; return the number of the first equal read, and the number of equal reads."""
        key = (call.parent, call.run, call.note)
        known = self.reads.get(key)
        if known is None:
            if len(self.reads) < _MOST_PARTS:
                self.reads[key] = [call.number, 1]
            return call.number, 1
        known[1] += 1
        return known[0], known[1]

    def change(self, number: int) -> None:
        """Add a change."""
        self.first_change = self.first_change or number
        self.last_change = number
        self.changes += 1
        if self.reads:
            self.reads = {}

    def is_back(self, feed: Feed) -> bool:
        """Return whether edits have given the file its first content again; the contents are read back.

        A file that the session created or deleted is left out: a temporary script is not trouble.
        """
        calls = feed.session.calls
        first, last = calls[self.first_change - 1], calls[self.last_change - 1]
        if first is last or not first.kind is last.kind is ToolKind.EDIT:
            return False
        file = TouchedFile(self.shown, first_change=first, last_change=last)
        file.may_be_changed = self.may_be_changed
        return is_back_to_start(file, feed) is True

    def know(self, call: Call) -> None:
        """Note that a call has read or created the file."""
        if self.known_from is None and call.ended is not None:
            self.known_from = call.ended.offset

    def was_known_to(self, call: Call) -> bool:
        """Return whether the file had been read or created when a call began."""
        began = call.started or call.ended
        return self.known_from is not None and (began is None or began.offset > self.known_from)


class Files:
    """The files that a session touched; at most the newest 20,000."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._spelled: dict[tuple[int, str], File] = {}
        """By run and path as the agent wrote it."""
        self._files: dict[str, File] = {}
        """By the key that `named` returns."""

    def __iter__(self) -> Iterator[File]:
        return iter(self._files.values())

    def of(self, call: Call, path: str) -> File:
        """Return a file of a call."""
        file = self._spelled.get((call.run, path))
        if file is None:
            key, shown, _ = named(path, self._session.runs[call.run - 1].cwd)
            file = self._files.get(key)
            if file is None:
                file = self._files[key] = File(shown)
                if len(self._files) > _MOST_FILES:
                    del self._files[next(iter(self._files))]
            self._spelled[call.run, path] = file
            if len(self._spelled) > _MOST_FILES:
                del self._spelled[next(iter(self._spelled))]
        return file
