"""Reads the file that a started agent writes its standard error to."""

from __future__ import annotations

import os

from agentwatch.recording import last_lines

_READ_BYTES = 1 << 16


class StderrFile:
    """The lines that an agent has written to its standard error."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._offset = 0
        self._tail = b""

    def new_lines(self) -> list[str]:
        """Return the complete lines added since the last call, at most 64 KiB.

        A line of more than 64 KiB is returned in pieces.
        """
        data = os.pread(self._fd, _READ_BYTES, self._offset)
        self._offset += len(data)
        *lines, self._tail = (self._tail + data).split(b"\n")
        if len(self._tail) > _READ_BYTES:
            lines.append(self._tail)
            self._tail = b""
        return [line.decode("utf-8", "replace") for line in lines]

    def last_lines(self, count: int) -> list[str]:
        """Return the last non-blank lines within the last 64 KiB, at most `count`."""
        lines = [line.decode("utf-8", "replace") for line in last_lines(self._fd, _READ_BYTES)]
        return [line for line in lines if line.strip()][-count:]

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
