"""The interface of a store: where an agent keeps a session, if not in one plain file of lines. And the lines
that are appended to a file which an agent writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

import orjson


class Store(Protocol):
    """A store only reads, and follows no link out of its folder. One thread uses it."""

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned, each with its line end.

        A followed store is asked up to ten times a second; one of plain files may have a shorter time between
        two readings as its attribute `poll_seconds`. A store that has not changed must find this out without
        reading its contents, for instance from the size and the modification time of its files. A large store
        may return its lines in several batches.

        A line that replaces an earlier one repeats its id, as the decoder of the format expects it. Raise
        `OSError` if the store cannot be read now.
        """

    def close(self) -> None:
        """Close the files of the store."""


@runtime_checkable
class WithSubagents(Protocol):
    """A store that keeps the subagents of a session as sessions of their own, and reads them with it."""

    def leave_out_subagents(self) -> None:
        """Read the session alone."""


_CHUNK = 1 << 20
_MOST_LINE = 64 << 20
"""A longer line loses its middle: its beginning and its end are kept."""


class Tail:
    """The lines that are appended to a file."""

    def __init__(self, fd: int) -> None:
        """The file is read from its beginning."""
        self.fd = fd
        self.offset = 0
        """The position after the last whole line."""

    def has_grown(self) -> bool:
        return os.fstat(self.fd).st_size > self.offset

    def lines(self) -> Iterator[bytes]:
        """Yield the whole lines after the last one, each with its line end."""
        position, pieces, size = self.offset, list[bytes](), 0
        while data := os.pread(self.fd, _CHUNK, position):
            *ended, rest = data.split(b"\n")
            for piece in ended:
                yield b"".join((*pieces, piece, b"\n"))
                position += len(piece) + 1
                self.offset, size = position, 0
                pieces.clear()
            position += len(rest)
            size += len(rest)
            if size <= _MOST_LINE:
                pieces.append(rest)


_BATCH = 4 << 20
"""The bytes of a batch: the lines of a large session are not all kept in memory."""


def next_batch(
    rest: Iterator[bytes], read_on: Callable[[], Iterator[bytes]]
) -> tuple[list[bytes], Iterator[bytes]]:
    """The lines of the next batch, and what is left of them. `read_on` returns what follows `rest`."""
    lines, size = list[bytes](), 0
    for is_new in (False, True):
        rest = read_on() if is_new else rest
        for line in rest:
            lines.append(line)
            size += len(line)
            if size >= _BATCH:
                return lines, rest
    return lines, rest


def timed_lines(tail: Tail, number: int) -> Iterator[tuple[str, int, bytes]]:
    """A line without a time has that of the line before it."""
    at = ""
    for line in tail.lines():
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError:
            fields = None
        found = fields.get("timestamp", fields.get("time")) if isinstance(fields, dict) else None
        if type(found) is int:
            found = f"{found:013}"
        if isinstance(found, str) and len(found) <= 40:
            at = max(at, found)
        yield at, number, line


def parsed(data: str | bytes) -> object:
    """Return None if the data is not JSON, or is nested too deeply. Python's parser reads what orjson
    rejects: half a surrogate pair, NaN, and bytes that are not UTF-8."""
    try:
        return orjson.loads(data)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace") if isinstance(data, bytes) else data)
    except (ValueError, RecursionError):
        return None


def as_line(value: dict[str, object]) -> bytes | None:
    """Return a value as a line with its end; None if it is nested too deeply. Python's writer writes what
    orjson rejects: more than 254 levels, half a surrogate pair, and integers of more than 64 bits."""
    try:
        return orjson.dumps(value) + b"\n"
    except orjson.JSONEncodeError:
        pass
    try:
        return json.dumps(value).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        return None
