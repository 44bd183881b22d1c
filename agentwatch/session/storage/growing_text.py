"""A text that grows piece by piece until it is complete."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from agentwatch.session.storage.spill import Spill

_CHUNK = 1 << 14
_MOST_WHOLE = 256
"""Characters of a complete text that stays a `str`.

Most texts of real sessions are shorter. A longer limit costs too much memory: with 1,024 characters, a
gigabyte of stream takes 35 MB more.
"""


class GrowingText:
    """A text that a spill stores as UTF-8, in chunks of 16,384 characters. Any part can be read by itself.

    The end of the text stays in memory until it fills a chunk or the text is complete. A complete text of at
    most 256 characters stays in memory.

    Python strings would cost more: 4 bytes per character in a text with an emoji, and 60 bytes of overhead
    per delta. The 65 MB of text in a gigabyte of stream would take over 200 MB.
    """

    __slots__ = ("_chunks", "_length", "_tail", "_tail_length", "spill")

    def __init__(self, spill: Spill, text: str = "") -> None:
        """Create a text that begins with `text` and writes its chunks to `spill`."""
        self.spill = spill
        """Where its chunks are stored."""
        self._chunks = _NO_CHUNKS
        """The place and the length in bytes of each chunk, alternating."""
        self._tail: list[str] | str = []
        """The pieces of text after the last chunk; of a complete text, a string. A list takes 64 bytes."""
        self._tail_length = 0
        self._length = 0
        if text:
            self.add(text)

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        if not self._chunks:
            return self._joined_tail()
        return "".join([*map(_decoded, self._read_chunks()), self._joined_tail()])

    def utf8(self) -> Iterator[bytes]:
        """Yield the whole text as UTF-8, one chunk at a time."""
        yield from self._read_chunks()
        if self._tail:
            yield _encoded(self._joined_tail())

    def part(self, start: int, end: int | None = None) -> str:
        """Return the characters from `start` up to `end`, or up to the end of the text."""
        end = self._length if end is None else min(end, self._length)
        packed = self._length - self._tail_length
        parts = []
        first, last = start // _CHUNK, min(-(-end // _CHUNK), len(self._chunks) // 2)
        for index, chunk in enumerate(self._read_chunks(first, last), first):
            begin = index * _CHUNK
            parts.append(_decoded(chunk)[max(start - begin, 0) : end - begin])
        if end > packed:
            parts.append(self._joined_tail()[max(start - packed, 0) : end - packed])
        return "".join(parts)

    def add(self, text: str) -> None:
        """Append text."""
        assert isinstance(self._tail, list)
        self._tail.append(text)
        self._length += len(text)
        self._tail_length += len(text)
        if self._tail_length >= 2 * _CHUNK:
            self._pack(self._tail_length // _CHUNK * _CHUNK)

    def complete(self) -> None:
        """Store the text in its final form. `add` must not be called afterwards."""
        if 0 < self._length <= _MOST_WHOLE:
            self._tail = self._joined_tail()
            return
        if self._tail_length and self._length <= _CHUNK:  # as most texts: a chunk of its own
            chunk = _encoded(self._joined_tail())
            self._chunks, self._tail_length = array("Q", (self.spill.add(chunk), len(chunk))), 0
        elif self._tail_length:
            self._pack(self._tail_length)
        self._tail = ""

    def packed(self) -> tuple[int, bytes, str]:
        """Return everything about a complete text, in values that can be serialised, for `unpacked`."""
        return self._length, self._chunks.tobytes(), self._joined_tail()

    @classmethod
    def unpacked(cls, spill: Spill, length: int, chunks: bytes, tail: str) -> GrowingText:
        """Return the complete text with the values of `packed`; `spill` has its chunks."""
        text = cls(spill)
        text._chunks = array("Q", chunks)
        text._tail, text._tail_length, text._length = tail, len(tail), length
        return text

    def _joined_tail(self) -> str:
        """Return the text after the last chunk; its pieces are joined only once."""
        if isinstance(self._tail, list):
            self._tail[:] = ["".join(self._tail)]
            return self._tail[0]
        return self._tail

    def _read_chunks(self, first: int = 0, last: int | None = None) -> Iterator[bytes]:
        """Yield the chunks from index `first` up to index `last`, read from the spill."""
        chunks = self._chunks
        for index in range(2 * first, len(chunks) if last is None else 2 * last, 2):
            yield self.spill.get(chunks[index], chunks[index + 1])

    def _pack(self, length: int) -> None:
        """Move the first `length` characters of the tail into chunks."""
        text = self._joined_tail()
        packed = [*self._chunks]
        for start in range(0, length, _CHUNK):
            chunk = _encoded(text[start : min(start + _CHUNK, length)])
            packed += (self.spill.add(chunk), len(chunk))
        self._chunks = array("Q", packed)  # made from a list, an array allocates no spare items
        self._tail = [text[length:]]
        self._tail_length -= length


class TextPrefix:
    """The beginning of a text that is stored elsewhere. It has the methods of `GrowingText`."""

    __slots__ = ("_length", "_whole")

    def __init__(self, whole: Content, length: int) -> None:
        """Refer to the first `length` characters of `whole`."""
        self._whole = whole
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return self._whole.part(0, self._length)

    def utf8(self) -> Iterator[bytes]:
        """Yield the text as UTF-8, one chunk at a time."""
        for start in range(0, self._length, _CHUNK):
            yield _encoded(self.part(start, start + _CHUNK))

    def part(self, start: int, end: int | None = None) -> str:
        """Return the characters from `start` up to `end`, or up to the end of the text."""
        return self._whole.part(start, self._length if end is None else min(end, self._length))

    def add(self, text: str) -> None:
        """Append text, which the whole text contains at this place."""
        self._length += len(text)

    def complete(self) -> None:
        """Do nothing: the whole text is stored elsewhere."""


Content = GrowingText | TextPrefix
_NO_CHUNKS = array("Q")


def is_joined(whole: Content, pieces: Iterable[Content]) -> bool:
    """Return whether a text equals the concatenation of the pieces.

    At most one chunk of each text is in memory at a time.
    """
    rest, left = whole.utf8(), b""
    for data in (data for piece in pieces for data in piece.utf8()):
        while len(left) < len(data):
            more = next(rest, None)
            if more is None:
                return False
            left += more
        if not left.startswith(data):
            return False
        left = left[len(data) :]
    return not left and next(rest, None) is None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(chunk: bytes) -> str:
    return chunk.decode("utf-8", "surrogatepass")
