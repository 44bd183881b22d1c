"""Searches the contents of sessions in short steps, the newest sessions first."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import NamedTuple

from agentwatch.faults import reading
from agentwatch.machine.contents.lines import pieces
from agentwatch.machine.contents.needle import Needle
from agentwatch.machine.row import Row
from agentwatch.wire.found import Key

_MOST_HITS = 3
"""The number of hits in one session. Then the next session is searched."""


class Hit(NamedTuple):
    """A place where the words were found."""

    key: Key
    """The session."""
    offset: int
    """The beginning of the line in the session, in bytes."""
    snippet: str
    """The text around the words: foreign text of at most 120 characters, without line ends."""


class ContentsSearch:
    """Finds the strings that contain all of some words, in any order, in capitals or not.

    Each file is read once, in pieces of 1 MiB, as far as it reaches when it is opened. Keys of JSON objects,
    lines over 4 MiB, and lines that repeat the vendor's instructions are not searched. One thread uses it.
    """

    def __init__(self, words: str, rows: Sequence[Row]) -> None:
        """Prepare a search; nothing is read yet.

        Args:
            words: The words.
            rows: The sessions, in any order.
        """
        needle = Needle(words)
        self.is_over = not needle.words
        """Whether every session was searched."""
        self.total = 0 if self.is_over else len(rows)
        """The number of sessions."""
        self.searched = 0
        """How many of them were searched, or skipped."""
        self.skipped = 0
        """How many were not searched, or not to their end: they cannot be read, are too large, or are on
        another machine."""
        self._steps = self._search(needle, sorted(rows, key=_age))

    def advance(self, seconds: float) -> list[Hit]:
        """Search on for a time, and return what was found meanwhile.

        Args:
            seconds: The time after which no other piece of 1 MiB is begun.
        """
        until = time.monotonic() + seconds
        found: list[Hit] = []
        while not self.is_over:
            hits = next(self._steps, None)
            if hits is None:
                self.is_over = True
                break
            found += hits
            if time.monotonic() >= until:
                break
        return found

    def close(self) -> None:
        """End the search, and close the file that is open."""
        self._steps.close()
        self.is_over = True

    def _search(self, needle: Needle, rows: Sequence[Row]) -> Generator[list[Hit]]:
        """Yield the hits of each piece."""
        for row in rows:
            if row.can_open and not row.address:
                yield from self._search_one(needle, row)
            else:
                self.skipped += 1
            self.searched += 1

    def _search_one(self, needle: Needle, row: Row) -> Generator[list[Hit]]:
        snippets: set[str] = set()
        try:
            with reading(row.path), closing(pieces(row.path)) as found:
                for piece in found:
                    self.skipped += piece.is_left
                    hits = []
                    for offset, line in needle.lines(piece.lines):
                        snippet = needle.snippet(line)
                        if snippet is None or snippet in snippets:
                            continue
                        snippets.add(snippet)
                        hits.append(Hit(row.key, piece.offset + offset, snippet))
                        if len(snippets) == _MOST_HITS:
                            yield hits
                            return
                    yield hits
        except OSError:
            self.skipped += 1


def _age(row: Row) -> int:
    return -(row.seen_ms or row.began_ms or 0)
