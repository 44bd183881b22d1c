"""Cuts the output of a host into lines of bounded length."""

from __future__ import annotations

import time

from agentwatch.engine.engine import EngineError
from agentwatch.remote.ssh.channel import Channel
from agentwatch.remote.ssh.script import MARK

MOST_BYTES = 1 << 16
"""The most bytes of a line."""
_MOST_BEFORE = 1 << 18
"""The most bytes that a login shell may print before the script begins."""
_MOST_FOREIGN = 1 << 22
"""The most bytes of a line that is passed over because it is too long."""


class ChannelLines:
    """The lines of a command's output, and the bytes between them."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._held = bytearray()
        self._searched = 0
        self._dropped = 0

    def next(self, seconds: float) -> bytes | None:
        """Return the next line without its end; None if none is complete within the time.

        A line that is too long is passed over.

        Raises:
            EngineError: The command has ended, or its line does not end.
        """
        until = time.monotonic() + seconds
        while True:
            end = self._held.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._held[:end])
                del self._held[: end + 1]
                self._searched = 0
                was_dropped, self._dropped = self._dropped, 0
                if not was_dropped and len(line) <= MOST_BYTES:
                    return line
                continue
            self._searched = len(self._held)
            if self._searched > MOST_BYTES:
                self._dropped += self._searched
                self._held.clear()
                self._searched = 0
                if self._dropped > _MOST_FOREIGN:
                    raise EngineError("the host sends a line that does not end")
            data = self.channel.read(max(0.0, until - time.monotonic()))
            if not data:
                return None
            self._held += data

    def take(self, count: int, seconds: float) -> bytes:
        """Return the next bytes, exactly the number asked for.

        Raises:
            EngineError: The command has ended before, or they do not arrive within the time.
        """
        until = time.monotonic() + seconds
        while len(self._held) < count:
            data = self.channel.read(max(0.0, until - time.monotonic()))
            if not data and time.monotonic() >= until:
                raise EngineError("the host does not answer")
            self._held += data
        taken = bytes(self._held[:count])
        del self._held[:count]
        self._searched = 0
        return taken

    def rest(self) -> bytes:
        """Return the bytes that were read behind the last line; later ones are read from the channel."""
        held = bytes(self._held)
        self._held.clear()
        self._searched = 0
        return held


def begun(lines: ChannelLines, seconds: float) -> str:
    """Return the way in which the script works: `program` or `tail`.

    Raises:
        EngineError: It has ended, or has not begun within the time.
    """
    until = time.monotonic() + seconds
    passed = 0
    while passed < _MOST_BEFORE:
        line = lines.next(max(0.0, until - time.monotonic()))
        if line is None:
            if time.monotonic() >= until:
                break
            continue
        if (way := way_of(line)) is not None:
            return way
        passed += len(line) + 1
    raise EngineError("the host does not answer")


def way_of(line: bytes) -> str | None:
    """Return the way that a line of the script names; None for another line."""
    mark, _, way = line.decode("ascii", "replace").partition(" ")
    return way if mark == MARK and way in ("program", "tail") else None
