"""Runs a command on a pty and reads its output without delay. Terminal queries are not answered."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from measure import cpu_seconds, environment

ESCAPES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC
    rb"|\x1b[()*+][0-9A-Za-z]|\x1b[=>78cDEHMNOZ]"
)
GLYPH = re.compile(rb"[^\x00-\x20\x1b]")

_READ_BYTES = 1 << 18
_OVERLAP_BYTES = 256
"""The number of bytes that are searched again with the next read: a pattern may span two reads."""


class Terminal:
    """A command, its terminal and its costs. Use it in a `with` statement, which ends the command.

    No thread reads in the background. The caller must read all the time, because a full terminal blocks the
    command.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        stdin: int | None = None,
        size: tuple[int, int] = (160, 48),
        home: Path | None = None,
        keep: bool = False,
    ) -> None:
        """Start a command on a new pty.

        Args:
            argv: The command.
            stdin: The descriptor to use as stdin instead of the pty.
            size: Columns and rows.
            home: Where agentwatch saves its sessions.
            keep: Keep everything that is read in `chunks`, with its times.
        """
        self.chunks: list[tuple[float, bytes]] = []
        self.bytes_read = 0
        self.last_read = 0.0
        """When bytes arrived last, by the monotonic clock."""
        self.is_over = False
        """Whether the command has closed the terminal."""
        self._keep = keep
        self._found_at: dict[bytes, float | None] = {}
        self._overlap = b""
        env = environment(**({} if home is None else {"AGENTWATCH_HOME": str(home)}))
        self.started = time.monotonic()
        self.pid, self._fd = pty.fork()
        if not self.pid:
            try:
                termios.tcsetwinsize(1, size[::-1])
                if stdin is not None:
                    os.dup2(stdin, 0)
                os.execvpe(argv[0], list(argv), env)
            finally:
                os._exit(127)
        fcntl.fcntl(self._fd, fcntl.F_SETFD, fcntl.FD_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, seconds: float) -> bytes:
        """Return the bytes that arrive within `seconds`, as soon as some do; empty if none arrive."""
        if self.is_over or not select.select([self._fd], [], [], max(seconds, 0))[0]:
            return b""
        try:
            data = os.read(self._fd, _READ_BYTES)
        except OSError:  # Linux reports EIO when the other end is closed
            data = b""
        self.is_over = not data
        if data:
            self.last_read = time.monotonic()
            self.bytes_read += len(data)
            if self._keep:
                self.chunks.append((self.last_read, data))
            self._search(self._overlap + data)
        return data

    def read_for(self, seconds: float) -> int:
        """Read for `seconds`, and return the number of bytes that arrived."""
        before, until = self.bytes_read, time.monotonic() + seconds
        while not self.is_over and (left := until - time.monotonic()) > 0:
            self.read(left)
        return self.bytes_read - before

    def expect(self, *patterns: bytes) -> None:
        """Search everything that is read from now on for patterns.

        `wait_for`, `moments` and `has_occurred` report whether and when they occurred.
        """
        self._found_at |= dict.fromkeys(patterns)
        self._overlap = b""

    def has_occurred(self, pattern: bytes) -> bool:
        """Return whether an expected pattern has occurred."""
        return self._found_at[pattern] is not None

    def wait_for(self, *patterns: bytes, seconds: float = 60.0) -> float:
        """Read until all patterns have occurred; return the time of the last by the monotonic clock."""
        return max(self.moments(*patterns, seconds=seconds))

    def moments(self, *patterns: bytes, seconds: float = 60.0) -> list[float]:
        """Read until all patterns have occurred, and return their times by the monotonic clock.

        A pattern passed to `expect` before may already have occurred. Other patterns are searched for from
        now on.

        Args:
            patterns: Regular expressions.
            seconds: How long to wait.

        Raises:
            SystemExit: A pattern has not occurred.
        """
        self.expect(*(pattern for pattern in patterns if pattern not in self._found_at))
        until = time.monotonic() + seconds
        while not all(map(self.has_occurred, patterns)):
            left = until - time.monotonic()
            if self.is_over or left <= 0:
                missing = [pattern for pattern in patterns if not self.has_occurred(pattern)]
                shown = ESCAPES.sub(b" ", self._overlap).decode(errors="replace").split()
                raise SystemExit(f"not on the screen after {seconds:g} s: {missing}; at last: {shown}")
            self.read(left)
        return [self._found_at.pop(pattern) or 0.0 for pattern in patterns]

    def first_glyph(self, seconds: float = 60.0) -> float:
        """Read until the first visible character, and return its time by the monotonic clock.

        Raises:
            SystemExit: No visible character was drawn.
        """
        output, until = b"", time.monotonic() + seconds
        while not GLYPH.search(ESCAPES.sub(b"", output).partition(b"\x1b")[0]):
            if self.is_over or time.monotonic() > until:
                raise SystemExit(f"nothing on the screen after {seconds:g} s")
            output += self.read(0.1)
        return self.last_read

    def settle(self, quiet: float = 0.5, seconds: float = 60.0) -> None:
        """Read until nothing has arrived for `quiet` seconds."""
        until = time.monotonic() + seconds
        while not self.is_over and self.read(quiet) and time.monotonic() < until:
            pass

    def press(self, keys: bytes) -> float:
        """Type keys, and return the time by the monotonic clock."""
        now = time.monotonic()
        os.write(self._fd, keys)
        return now

    def resize(self, columns: int, rows: int) -> float:
        """Change the size of the terminal, and return the time by the monotonic clock."""
        now = time.monotonic()
        termios.tcsetwinsize(self._fd, (rows, columns))
        return now

    def cpu_seconds(self) -> float:
        """Return the CPU time of the command so far."""
        return cpu_seconds(self.pid)

    def resident_bytes(self) -> int:
        """Return the present size of its resident set."""
        return self._status_bytes("VmRSS")

    def peak_bytes(self) -> int:
        """Return the largest size of its resident set."""
        return self._status_bytes("VmHWM")

    def wait_end(self, seconds: float = 60.0) -> int:
        """Read until the command has ended, and return its exit code.

        Raises:
            SystemExit: The command has not ended.
        """
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.read(0.05)
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise SystemExit(f"it still runs after {seconds:g} s")

    def close(self) -> None:
        """Kill the command if it is still running, and close its terminal."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        os.close(self._fd)

    def _search(self, data: bytes) -> None:
        for pattern, moment in self._found_at.items():
            if moment is None and re.search(pattern, data):
                self._found_at[pattern] = self.last_read
        self._overlap = data[-_OVERLAP_BYTES:]

    def _status_bytes(self, field: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
