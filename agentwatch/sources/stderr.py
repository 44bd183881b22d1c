"""The agent's standard error, read from the file that it is written to."""

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
        """Return the whole lines that are new, up to 64 KiB of them."""
        data = os.pread(self._fd, _READ_BYTES, self._offset)
        self._offset += len(data)
        *lines, self._tail = (self._tail + data).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines that are not blank, at most `count`, from the last 64 KiB."""
        lines = [line.decode("utf-8", "replace") for line in last_lines(self._fd, _READ_BYTES)]
        return [line for line in lines if line.strip()][-count:]
