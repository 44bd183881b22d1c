"""Reads the lines of a session in pieces of bounded size."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

from agentwatch.recording import open_own
from agentwatch.wire.stores import store_for

_PIECE_BYTES = 1 << 20
_MOST_LINE_BYTES = 1 << 22
"""A line that is longer is passed over. The longest ones that are known contain images."""
_MOST_STORED_BYTES = 1 << 24
"""Of a session in a store, only this beginning is read, and a larger document is not opened."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


class Piece(NamedTuple):
    """A part of a session."""

    offset: int
    """In bytes from the beginning of the session."""
    lines: bytes
    """Whole lines. The last one may have no line end."""
    is_left: bool = False
    """Whether the rest of the session is not read."""


_LEFT = Piece(0, b"", is_left=True)


def pieces(path: Path) -> Generator[Piece]:
    """Yield the parts of the session at a path, in their order.

    Raises:
        OSError: The session cannot be read.
    """
    try:
        fd = open_own(path)
    except NotADirectoryError:  # a session in a database: opencode.db/ses_…
        yield from _stored(path, path.parent)
        return
    try:
        if path.suffix != ".json" and os.pread(fd, len(_ZSTANDARD), 0) != _ZSTANDARD:
            yield from _in_file(fd)
            return
    finally:
        os.close(fd)
    yield from _stored(path, path)


def _in_file(fd: int) -> Generator[Piece]:
    """Yield the parts of a file of lines, as long as it is now."""
    size = os.fstat(fd).st_size
    rest, at = b"", 0
    is_passed_over = False
    while at < size and (read := os.pread(fd, min(_PIECE_BYTES, size - at), at)):
        at += len(read)
        end = read.rfind(b"\n") + 1
        if is_passed_over:
            begin = read.find(b"\n") + 1
            is_passed_over = not begin
            yield Piece(at - len(read) + begin, read[begin:end])
        elif end:
            yield Piece(at - len(read) - len(rest), rest + read[:end])
        else:
            rest += read
            is_passed_over = len(rest) > _MOST_LINE_BYTES
            rest = b"" if is_passed_over else rest
            yield Piece(at, b"")
            continue
        rest = b"" if is_passed_over else read[end:]
    if rest:
        yield Piece(at - len(rest), rest)


def _stored(path: Path, file: Path) -> Generator[Piece]:
    """Yield the parts of a session in a store, of which `file` is the file."""
    if path == file and os.stat(file, follow_symlinks=False).st_size > _MOST_STORED_BYTES:
        yield _LEFT
        return
    os.close(open_own(file))
    store = store_for(path)
    if store is None:
        yield _LEFT
        return
    offset = 0
    try:
        while lines := store.new_lines():
            data = b"".join(lines)
            yield Piece(offset, data)
            offset += len(data)
            if offset > _MOST_STORED_BYTES:
                yield _LEFT
                return
    finally:
        store.close()
