"""A text that grows by pieces until it is complete."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from agentwatch.session.spill import Spill

_CHUNK = 1 << 14


class GrowingText:
    """A text kept in a spill as UTF-8, in chunks of 16,384 characters; a part can be had without the whole.

    A Python string takes four bytes a character where one of them is an emoji, and deltas 60 bytes each
    besides: of a gigabyte of stream, 65 MB of text would take 200 MB and more.
    """

    __slots__ = ("_chunks", "_length", "_spill", "_tail", "_tail_length")

    def __init__(self, spill: Spill, text: str = "") -> None:
        """Begin with `text`; what is complete goes to `spill`."""
        self._spill = spill
        self._chunks = _NO_CHUNKS
        """Place and length of each."""
        self._tail: list[str] = []
        self._tail_length = 0
        self._length = 0
        if text:
            self.add(text)

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return "".join([*map(_decoded, self._packed()), *self._tail])

    def utf8(self) -> Iterator[bytes]:
        """Yield all of it as UTF-8, piece by piece."""
        yield from self._packed()
        if self._tail:
            yield "".join(self._tail).encode("utf-8", "surrogatepass")

    def part(self, start: int, end: int | None = None) -> str:
        """Return its characters from `start` to `end`."""
        end = self._length if end is None else min(end, self._length)
        packed = self._length - self._tail_length
        parts = []
        first, last = start // _CHUNK, min(-(-end // _CHUNK), len(self._chunks) // 2)
        for index, chunk in enumerate(self._packed(first, last), first):
            begin = index * _CHUNK
            parts.append(_decoded(chunk)[max(start - begin, 0) : end - begin])
        if end > packed:
            self._tail[:] = ["".join(self._tail)]
            parts.append(self._tail[0][max(start - packed, 0) : end - packed])
        return "".join(parts)

    def add(self, text: str) -> None:
        """Add text to its end."""
        self._tail.append(text)
        self._length += len(text)
        self._tail_length += len(text)
        if self._tail_length >= 2 * _CHUNK:
            self._pack(self._tail_length // _CHUNK * _CHUNK)

    def complete(self) -> None:
        """Take no more."""
        if self._tail_length:
            self._pack(self._tail_length)
        self._tail = _NO_PIECES

    def _packed(self, first: int = 0, last: int | None = None) -> Iterator[bytes]:
        """Yield the chunks from one to before another, read back."""
        chunks = self._chunks
        for index in range(2 * first, len(chunks) if last is None else 2 * last, 2):
            yield self._spill.get(chunks[index], chunks[index + 1])

    def _pack(self, length: int) -> None:
        """Put the first characters of the tail into chunks."""
        text = "".join(self._tail)
        packed = [*self._chunks]
        for at in range(0, length, _CHUNK):
            chunk = text[at : min(at + _CHUNK, length)].encode("utf-8", "surrogatepass")
            packed += (self._spill.add(chunk), len(chunk))
        self._chunks = array("Q", packed)  # exactly as large as it must be
        self._tail = [text[length:]]
        self._tail_length -= length


_NO_CHUNKS = array("Q")
_NO_PIECES: list[str] = []


def is_joined(whole: GrowingText, pieces: Iterable[GrowingText]) -> bool:
    """Return whether a text is the pieces in a row; no more than a chunk of each is in memory at once."""
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


def _decoded(chunk: bytes) -> str:
    return chunk.decode("utf-8", "surrogatepass")
