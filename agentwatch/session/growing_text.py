"""A text that grows by pieces until it is complete."""

from __future__ import annotations

_CHUNK = 1 << 14


class GrowingText:
    """A text kept as UTF-8, in chunks of 16,384 characters, of which a part can be had without the whole.

    A Python string takes four bytes a character where one of them is an emoji, and deltas 60 bytes each
    besides: of a gigabyte of stream, 50 MB of text would take 200 MB and more.
    """

    __slots__ = ("_chunks", "_length", "_tail", "_tail_length")

    def __init__(self, text: str = "") -> None:
        self._chunks: list[bytes] = []
        self._tail: list[str] = []
        self._tail_length = 0
        self._length = 0
        if text:
            self.add(text)

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return "".join([*map(_decoded, self._chunks), *self._tail])

    def utf8(self) -> bytes:
        """Return all of it as UTF-8."""
        return b"".join([*self._chunks, *map(_encoded, self._tail)])

    def part(self, start: int, end: int | None = None) -> str:
        """Return its characters from `start` to `end`."""
        end = self._length if end is None else min(end, self._length)
        packed = self._length - self._tail_length
        parts = []
        for index in range(start // _CHUNK, min(-(-end // _CHUNK), len(self._chunks))):
            first = index * _CHUNK
            parts.append(_decoded(self._chunks[index])[max(start - first, 0) : end - first])
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
        self._pack(self._tail_length)
        self._tail = _NO_PIECES

    def _pack(self, length: int) -> None:
        """Put the first characters of the tail into chunks."""
        text = "".join(self._tail)
        packed = (text[at : min(at + _CHUNK, length)] for at in range(0, length, _CHUNK))
        self._chunks += map(_encoded, packed)
        self._tail = [text[length:]]
        self._tail_length -= length


_NO_PIECES: list[str] = []


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(chunk: bytes) -> str:
    return chunk.decode("utf-8", "surrogatepass")
