"""Writes the file of arrival times; `agentwatch.recording.times` describes its format."""

from __future__ import annotations

import os


class TimesFile:
    """An open file of arrival times."""

    def __init__(self, fd: int | None) -> None:
        """Write to the open file `fd`; nothing is written if it is None."""
        self.fault: OSError | None = None
        """Why the file is incomplete."""
        self._fd = fd
        self._is_cut = False

    def note(self, offset: int, epoch_ms: int) -> None:
        """Write that the bytes from `offset` on arrived at `epoch_ms`."""
        self._write(b"%d %d\n" % (offset, epoch_ms))

    def note_gap(self, offset: int, missing: int) -> None:
        """Write that `missing` bytes of the stream before `offset` are not in the recording."""
        self._write(b"gap %d %d\n" % (offset, missing))

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, line: bytes) -> None:
        """Write a line.

        A line that a full disk has cut short is made invalid, because its digits could be read as another
        number.
        """
        if self._fd is None:
            return
        line = b"?\n" + line if self._is_cut else line
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            self.fault = error
            return
        self._is_cut = written < len(line)
