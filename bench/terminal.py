"""A command on a pty of its own, read without delay; nothing that it asks the terminal is answered."""

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

from measure import environment

ESCAPES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC
    rb"|\x1b[()*+][0-9A-Za-z]|\x1b[=>78cDEHMNOZ]"
)
GLYPH = re.compile(rb"[^\x00-\x20\x1b]")

_READ_BYTES = 1 << 18
_TICKS = os.sysconf("SC_CLK_TCK")
_CARRIED = 256
"""How many bytes of what was read are searched again: what is waited for may come in two reads."""


class Terminal:
    """A command, its terminal, and what it costs; to be used in a `with`, which ends it.

    Only our own thread reads: whoever uses it reads all the time, for a terminal that nobody reads
    holds the command up.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        stdin: int | None = None,
        size: tuple[int, int] = (160, 48),
        home: Path | None = None,
        keeps: bool = False,
    ) -> None:
        """Start `argv`; `size` is columns and rows, `home` is where agentwatch saves.

        With `stdin` its descriptor 0 is that instead of the pty. With `keeps` all that comes is kept
        in `chunks`, with its times.
        """
        self.chunks: list[tuple[float, bytes]] = []
        self.bytes_read = 0
        self.last_read = 0.0
        """When something came last, by the monotonic clock."""
        self.is_over = False
        """Whether the command has closed the terminal."""
        self._keeps = keeps
        self._came: dict[bytes, float | None] = {}
        self._carried = b""
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
        """Return what comes within so many seconds, as soon as it comes; nothing at the end."""
        if self.is_over or not select.select([self._fd], [], [], max(seconds, 0))[0]:
            return b""
        try:
            data = os.read(self._fd, _READ_BYTES)
        except OSError:  # Linux says EIO where the other end is closed
            data = b""
        self.is_over = not data
        if data:
            self.last_read = time.monotonic()
            self.bytes_read += len(data)
            if self._keeps:
                self.chunks.append((self.last_read, data))
            self._look_out(self._carried + data)
        return data

    def read_for(self, seconds: float) -> int:
        """Read for so many seconds, and return how many bytes came."""
        before, until = self.bytes_read, time.monotonic() + seconds
        while not self.is_over and (left := until - time.monotonic()) > 0:
            self.read(left)
        return self.bytes_read - before

    def expect(self, *patterns: bytes) -> None:
        """Look out for patterns from now on, in whatever is read; `wait_for` and `has_come` tell of them."""
        self._came |= dict.fromkeys(patterns)
        self._carried = b""

    def has_come(self, pattern: bytes) -> bool:
        """Return whether a pattern that is expected has come."""
        return self._came[pattern] is not None

    def wait_for(self, *patterns: bytes, seconds: float = 60.0) -> float:
        """Read until each of the patterns has come, and return the moment by the monotonic clock."""
        return max(self.moments(*patterns, seconds=seconds))

    def moments(self, *patterns: bytes, seconds: float = 60.0) -> list[float]:
        """Read until each of the patterns has come since it was expected, or from now on; return when.

        Raises:
            SystemExit: One has not.
        """
        self.expect(*(pattern for pattern in patterns if pattern not in self._came))
        until = time.monotonic() + seconds
        while not all(map(self.has_come, patterns)):
            left = until - time.monotonic()
            if self.is_over or left <= 0:
                missing = [pattern for pattern in patterns if not self.has_come(pattern)]
                shown = ESCAPES.sub(b" ", self._carried).decode(errors="replace").split()
                raise SystemExit(f"not on the screen after {seconds:g} s: {missing}; at last: {shown}")
            self.read(left)
        return [self._came.pop(pattern) or 0.0 for pattern in patterns]

    def first_glyph(self, seconds: float = 60.0) -> float:
        """Read until the first character that can be seen, and return the moment.

        Raises:
            SystemExit: There is none.
        """
        said, until = b"", time.monotonic() + seconds
        while not GLYPH.search(ESCAPES.sub(b"", said).partition(b"\x1b")[0]):
            if self.is_over or time.monotonic() > until:
                raise SystemExit(f"nothing on the screen after {seconds:g} s")
            said += self.read(0.1)
        return self.last_read

    def settle(self, quiet: float = 0.5, seconds: float = 60.0) -> None:
        """Read until nothing has come for `quiet` seconds."""
        until = time.monotonic() + seconds
        while not self.is_over and self.read(quiet) and time.monotonic() < until:
            pass

    def press(self, keys: bytes) -> float:
        """Type keys, and return the moment."""
        now = time.monotonic()
        os.write(self._fd, keys)
        return now

    def resize(self, columns: int, rows: int) -> float:
        """Give the terminal another size, and return the moment."""
        now = time.monotonic()
        termios.tcsetwinsize(self._fd, (rows, columns))
        return now

    def cpu_seconds(self) -> float:
        """Return what the command has taken so far: exactly, or to 10 ms when a thread of it has ended."""
        process = Path(f"/proc/{self.pid}")
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        threads = (int(one.read_text().split()[0]) for one in process.glob("task/*/schedstat"))
        return max(sum(map(int, fields[11:13])) / _TICKS, sum(threads) / 1e9)

    def resident_bytes(self) -> int:
        """Return how much of its memory is resident now."""
        return self._status_bytes("VmRSS")

    def peak_bytes(self) -> int:
        """Return how much was resident at most."""
        return self._status_bytes("VmHWM")

    def wait_end(self, seconds: float = 60.0) -> int:
        """Read until the command has ended, and return its exit code.

        Raises:
            SystemExit: It has not.
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
        """End the command, whatever it does, and close its terminal."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        os.close(self._fd)

    def _look_out(self, data: bytes) -> None:
        for pattern, moment in self._came.items():
            if moment is None and re.search(pattern, data):
                self._came[pattern] = self.last_read
        self._carried = data[-_CARRIED:]

    def _status_bytes(self, field: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
