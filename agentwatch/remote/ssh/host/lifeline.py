"""The standard input of a command on the host: a few words from the watcher, and its end when he leaves."""

from __future__ import annotations

import os
import select
import time

_READ_BYTES = 1 << 12
_MOST_WORD = 100
KNOWN = frozenset({"all"})


class Lifeline:
    """Waits for words, and for the end."""

    def __init__(self, fd: int = 0) -> None:
        """Take the descriptor of the standard input."""
        self.has_ended = False
        """Whether the watcher has left, or was killed, or the connection was lost."""
        self.words: set[str] = set()
        """The words that have arrived."""
        self._fd = fd
        self._held = b""
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Wait for the time, or for the end, if it comes before."""
        until = time.monotonic() + seconds
        while not self.has_ended:
            left = until - time.monotonic()
            if not self._poll.poll(max(0.0, left) * 1000):
                return
            try:
                data = os.read(self._fd, _READ_BYTES)
            except OSError:
                data = b""
            self.has_ended = not data
            *lines, self._held = (self._held + data).split(b"\n")
            self._held = self._held[:_MOST_WORD]
            self.words.update(KNOWN & {line.decode("ascii", "replace") for line in lines})
            if left <= 0:
                return
