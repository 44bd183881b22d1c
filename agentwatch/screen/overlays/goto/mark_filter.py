"""Finds the marked moments that match what was typed, for a few milliseconds at a time."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from time import perf_counter

from agentwatch.recording.bookmarks import Bookmark
from agentwatch.screen.overlays.goto.marks import Mark, Marks, bookmark_words
from agentwatch.text.safe import SafeText

_AT_ONCE = 32
"""The number of markers that are read between two readings of the clock: 0.3 ms."""


class MarkFilter:
    """The bookmarks and markers that match all words: as a part of their text, or as the start of their time.

    Each marker is put into words only while it is compared, or shown: 100,000 of them would take 20 MB.
    """

    def __init__(self, marks: Marks, text: str, first: Sequence[int] = (), start: int = 0) -> None:
        """Create a filter that has compared no markers yet.

        Args:
            marks: The marked moments.
            text: What was typed; without any word, every mark matches.
            first: The indices of markers that are compared before those from `start` on.
            start: The index of the first marker that is compared after those.
        """
        self._marks = marks
        self.text = text
        self._words = text.casefold().split()
        self._found = array("I")
        """The indices of the markers that match."""
        self._first = first
        self._compared = 0
        """The number of `first` that were compared."""
        self._from = start
        """The index of the first marker that is neither compared nor in `first`."""
        self._revision = marks.markers.revision
        self._bookmarks: list[Bookmark] = []
        self.refresh_bookmarks()

    def __len__(self) -> int:
        return len(self._bookmarks) + (len(self._found) if self._words else len(self._marks.markers))

    def __getitem__(self, index: int) -> Mark:
        if index < len(self._bookmarks):
            return self._marks.of_bookmark(self._bookmarks[index])
        index -= len(self._bookmarks)
        return self._marks.of_marker(self._marks.markers[self._found[index] if self._words else index])

    def retyped(self, text: str) -> MarkFilter:
        """Return a filter for another text; if it continues this one, only what matches this is compared."""
        is_narrower = self._words and text.startswith(self.text)
        if not is_narrower or self._revision != self._marks.markers.revision:
            return MarkFilter(self._marks, text)
        return MarkFilter(self._marks, text, (*self._found, *self._first[self._compared :]), self._from)

    @property
    def is_complete(self) -> bool:
        """Whether all marks were compared."""
        is_current = self._revision == self._marks.markers.revision
        return not self._words or (is_current and self._from >= len(self._marks.markers) and not self._left)

    def refresh_bookmarks(self) -> None:
        """Compare the bookmarks again, of which there are few."""
        self._bookmarks = [
            each for each in self._marks.bookmarks if self._matches(bookmark_words(each.name), each.offset)
        ]

    def row_of_bookmark(self, offset: int) -> int | None:
        """Return the index of the bookmark at a moment; None if it has none that matches."""
        return next((at for at, each in enumerate(self._bookmarks) if each.offset == offset), None)

    def row_of(self, mark: Mark) -> int | None:
        """Return the present index of a mark, or of another one of the same kind at its moment."""
        if mark.bookmark is not None:
            return self.row_of_bookmark(mark.offset)
        markers = self._marks.markers
        row = index = markers.index_after(mark.offset - 1)
        if self._words:
            row = bisect_left(self._found, index)
            index = self._found[row] if row < len(self._found) else len(markers)
        is_there = index < len(markers) and markers[index].offset == mark.offset
        return len(self._bookmarks) + row if is_there else None

    def advance(self, seconds: float) -> None:
        """Compare marks for about this time; at least a few."""
        if self._revision != self._marks.markers.revision:
            self._revision, self._from = self._marks.markers.revision, 0
            self._first, self._compared = (), 0
            del self._found[:]
        until = perf_counter() + seconds
        while not self.is_complete:
            for index in self._next():
                marker = self._marks.markers[index]
                if self._matches(self._marks.words(marker), marker.offset):
                    self._found.append(index)
            if perf_counter() >= until:
                break

    @property
    def _left(self) -> int:
        """The number of `_first` that were not compared yet."""
        return len(self._first) - self._compared

    def _next(self) -> Sequence[int]:
        """Return the markers to compare next."""
        if self._left:
            found = self._first[self._compared : self._compared + _AT_ONCE]
            self._compared += len(found)
            return found
        start = self._from
        self._from = min(start + _AT_ONCE, len(self._marks.markers))
        return range(start, self._from)

    def _matches(self, words: SafeText, offset: int) -> bool:
        """Return whether each word is in the words of a mark, or begins the time of its moment."""
        text = words.casefold()
        missing = [word for word in self._words if word not in text]
        if not all(word[0].isdecimal() for word in missing):
            return False
        time = self._marks.time(offset) if missing else ""
        return all(time.startswith(word) for word in missing)
