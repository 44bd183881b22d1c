"""Chunks: the contents of the page, compressed, of which the script inflates what it shows."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from agentwatch.exports.html.content.nodes import Node

_FULL = 1 << 20
"""The size of a chunk before compression, in bytes. Inflating it takes 20 ms; smaller ones compress worse."""
_LEVEL = 6
_SCRIPT = b'<script type="%s" id="chunk-%d">%s</script>\n'


class Slot(NamedTuple):
    """Where the content of an entry is."""

    chunk: int
    line: int
    """The number of its line in the chunk, counted from 0."""


class Chunks:
    """Gathers contents, one JSON line each, and packs those of a full chunk.

    Texts and calls have chunks of their own: scrolling shows many texts, and calls only when they are opened.
    """

    def __init__(self, *, compresses: bool) -> None:
        """Create the chunks; without compression, a page can be printed while it loads."""
        self._compresses = compresses
        self._count = 0
        self._open: dict[str, _Chunk] = {}
        self._full: list[_Chunk] = []

    def add(self, kind: str, nodes: list[Node]) -> Slot:
        """Add the content of an entry to the chunk of a kind."""
        line = orjson.dumps(nodes)
        chunk = self._open.get(kind)
        if chunk is not None and chunk.size + len(line) > _FULL:
            self._full.append(chunk)
            chunk = None
        if chunk is None:
            chunk = self._open[kind] = _Chunk(self._count)
            self._count += 1
        return Slot(chunk.number, chunk.add(line))

    def packed(self, *, is_last: bool = False) -> Iterator[bytes]:
        """Yield the full chunks as scripts that no browser runs; with `is_last`, also the open ones."""
        if is_last:
            self._full += self._open.values()
            self._open = {}
        while self._full:
            yield self._full.pop(0).packed(compresses=self._compresses)


class _Chunk:
    """The contents of a chunk."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.size = 0
        self._lines: list[bytes] = []

    def add(self, line: bytes) -> int:
        """Add a line, and return its number."""
        self._lines.append(line)
        self.size += len(line) + 1
        return len(self._lines) - 1

    def packed(self, *, compresses: bool) -> bytes:
        """Return the chunk as a script. The same lines give the same bytes: no time is written."""
        data = b"\n".join(self._lines)
        if not compresses:
            return _SCRIPT % (b"application/x-ndjson", self.number, inert(data))
        return _SCRIPT % (b"text/plain", self.number, b64encode(gzip.compress(data, _LEVEL, mtime=0)))


def inert(data: bytes) -> bytes:
    """Return JSON in which no text can end the script that contains it."""
    return data.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")
