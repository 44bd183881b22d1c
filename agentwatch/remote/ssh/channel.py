"""One command that runs on a host: its standard input, its output within bounds, and how it ended."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from agentwatch.engine.engine import EngineError
from agentwatch.text.safe import cut, safe_line

_READ_BYTES = 1 << 16
_MOST_STDERR = 1 << 12
_MOST_COLUMNS = 200
_END_SECONDS = 1.0
LOST = 255
"""The exit code of ssh itself: the connection was lost."""


class Ended(EngineError):
    """The command on the host has ended."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Channel:
    """A client of the shared connection. One thread uses it."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        """Start the client.

        Args:
            argv: The command line of ssh.
            environ: Its environment.

        Raises:
            EngineError: It cannot be started.
        """
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environ),
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"ssh cannot be started: {(error.strerror or '').lower()}") from None
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (each.fileno() for each in streams if each is not None)
        os.set_blocking(self._err, False)
        self._said = b""
        self._pending = b""
        self.has_more = True
        """Whether the last reading has filled its buffer: more is there already."""

    def write(self, data: bytes) -> None:
        """Send a few bytes to the command. That it has ended is known from its output."""
        with suppress(OSError):
            os.write(self._in, data)

    def read(self, seconds: float) -> bytes:
        """Return the next bytes of the output, at most 64 KiB; none if none arrive within the time.

        Raises:
            Ended: The command has ended, and all of its output was read.
        """
        if self._pending:
            pending, self._pending = self._pending, b""
            return pending
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        poll.register(self._err, select.POLLIN)
        until = time.monotonic() + seconds
        while True:
            ready = dict(poll.poll(max(0.0, until - time.monotonic()) * 1000))
            if self._err in ready and not self._take_error():
                poll.unregister(self._err)
            if self._out in ready:
                data = os.read(self._out, _READ_BYTES)
                self.has_more = len(data) == _READ_BYTES
                if not data:
                    raise self._ended()
                return data
            if time.monotonic() >= until:
                return b""

    def put_back(self, data: bytes) -> None:
        """Let the next reading return bytes that were read already."""
        self._pending = data + self._pending

    def close(self) -> None:
        """End the client, and with it the command on the host, whose standard input ends."""
        process = self._process
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _take_error(self) -> bool:
        """Keep the last bytes of stderr; return whether there may be more."""
        try:
            data = os.read(self._err, _READ_BYTES)
        except BlockingIOError:
            return True
        self._said = (self._said + data)[-_MOST_STDERR:]
        return bool(data)

    def _ended(self) -> Ended:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = LOST
        with suppress(OSError):
            self._take_error()
        message = safe_message(self._said)
        if code in (LOST, -15, -9):
            return Ended("the connection was lost" + (f": {message}" if message else ""), LOST)
        return Ended(message or f"the host has ended it with {code}", code)


def safe_message(said: bytes) -> str:
    """Return the last line that a program has written to stderr, as safe text of bounded length."""
    lines = said[-_MOST_STDERR:].decode("utf-8", "replace").split("\n")
    last = next((line for each in reversed(lines) if (line := each.strip())), "")
    return cut(safe_line(last), _MOST_COLUMNS)
