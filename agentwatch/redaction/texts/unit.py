"""A text that is searched at once, with the places of its pieces in the recording."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from agentwatch.redaction.texts.escapes import escaped_places, text_of

Read = Callable[[int, int], bytes]
"""Returns bytes of the recording, of an offset and a length."""
Span = tuple[int, int]


class Unit:
    """A text whose pieces lie in one line or in many: a line, or the consecutive deltas of a block.

    Args:
        is_escaped: Whether the pieces are in JSON strings, or are lines of JSON.
        shape: The hash of the shape of a line; None if the text is not that of one line.
    """

    __slots__ = ("is_cut", "is_escaped", "is_guessed", "lengths", "offsets", "shape", "size", "texts")

    def __init__(self, *, is_escaped: bool = True, shape: int | None = None) -> None:
        self.is_escaped = is_escaped
        self.shape = shape
        self.is_guessed = False
        """Whether its pieces are those of lines of an unknown format, which may have nothing in common."""
        self.is_cut = False
        """Whether the text may end within a value, because the next line repeats it and goes on."""
        self.texts: list[str] = []
        self.offsets = array("Q")
        """The offset of each piece in the recording."""
        self.lengths = array("Q")
        """The number of bytes of each piece in the recording."""
        self.size = 0
        """The number of characters."""

    def add(self, offset: int, data: bytes) -> None:
        """Append a piece.

        Args:
            offset: Its offset in the recording.
            data: Its bytes.
        """
        text = text_of(data) if self.is_escaped else data.decode("utf-8", "surrogateescape")
        self.texts.append(text)
        self.offsets.append(offset)
        self.lengths.append(len(data))
        self.size += len(text)

    def part(self, first: int, last: int) -> Unit:
        """Return the pieces from one number to before another."""
        part = Unit(is_escaped=self.is_escaped)
        part.is_guessed = self.is_guessed
        part.texts = self.texts[first:last]
        part.offsets = self.offsets[first:last]
        part.lengths = self.lengths[first:last]
        part.size = sum(map(len, part.texts))
        return part

    def pieces_of(self, start: int, end: int) -> range:
        """Return the numbers of the pieces that a span of the text touches."""
        ends = self.ends()
        return range(bisect_right(ends, start), bisect_right(ends, end - 1) + 1)

    def ends(self) -> list[int]:
        """Return where each piece ends in the text."""
        return [*accumulate(map(len, self.texts))]

    def places(self, spans: Sequence[Span], read: Read) -> list[list[Span]]:
        """Return where spans of the text are in the recording: for each span, those of its pieces.

        Args:
            spans: Starts and ends, in any order.
            read: Reads the pieces again.
        """
        ends = self.ends()
        wanted: dict[int, set[int]] = {}
        cut: list[list[tuple[int, int, int]]] = []
        for start, end in spans:
            parts = [*_parts(ends, start, end)]
            cut.append(parts)
            for number, *places in parts:
                wanted.setdefault(number, set()).update(places)
        found = {number: self._byte_places(number, places, read) for number, places in wanted.items()}
        return [[(found[number][start], found[number][end]) for number, start, end in parts] for parts in cut]

    def _byte_places(self, number: int, places: Iterable[int], read: Read) -> dict[int, int]:
        """Return the offset in the recording of each place in a piece."""
        offset = self.offsets[number]
        data = read(offset, self.lengths[number])
        text = data.decode("utf-8", "surrogateescape")
        ordered = sorted(places)
        sources = escaped_places(text, ordered) if self.is_escaped else ordered
        found: dict[int, int] = {}
        at = size = 0
        is_ascii = data.isascii()
        for place, source in zip(ordered, sources, strict=True):
            between = source - at if is_ascii else len(text[at:source].encode("utf-8", "surrogateescape"))
            size += between
            at = source
            found[place] = offset + size
        return found


def _parts(ends: list[int], start: int, end: int) -> Iterable[tuple[int, int, int]]:
    """Yield the pieces that a span touches: the number of each, and the start and end in it."""
    number = bisect_right(ends, start)
    while start < end and number < len(ends):
        before = ends[number - 1] if number else 0
        until = min(end, ends[number])
        if until > start:
            yield number, start - before, until - before
        start = max(start, until)
        number += 1
