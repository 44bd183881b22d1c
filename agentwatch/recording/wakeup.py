"""Waking whoever waits for a recording to grow."""

from __future__ import annotations

import os
from contextlib import suppress


class Wakeup:
    """A descriptor that becomes readable when a recording has grown, once for each time that it is asked.

    Ringing costs nothing while nobody asks, and never waits.
    """

    def __init__(self) -> None:
        self.fd, self._bell_fd = os.pipe()
        """To be waited on."""
        os.set_blocking(self.fd, False)
        os.set_blocking(self._bell_fd, False)
        self._is_asked = False

    def ask(self) -> None:
        """Ask to be woken by what comes from now on; look afterwards at what is there already."""
        self._is_asked = True

    def hear(self) -> None:
        """Take the ring, so that the descriptor is readable no more."""
        with suppress(BlockingIOError):
            os.read(self.fd, 1)

    def ring(self) -> None:
        """Wake who has asked."""
        if self._is_asked:
            self._is_asked = False
            with suppress(OSError):
                os.write(self._bell_fd, b"!")
