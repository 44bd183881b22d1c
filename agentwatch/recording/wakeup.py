"""Wakes a reader that waits for a recording to grow."""

from __future__ import annotations

import os
from contextlib import suppress


class Wakeup:
    """A descriptor that becomes readable when a recording has grown, once per `ask`.

    `ring` costs nothing while nobody has asked, and never blocks.
    """

    def __init__(self) -> None:
        self.fd, self._bell_fd = os.pipe()
        """The descriptor to wait on."""
        os.set_blocking(self.fd, False)
        os.set_blocking(self._bell_fd, False)
        self._is_asked = False

    def ask(self) -> None:
        """Ask to be woken when new bytes arrive.

        Check for new bytes after this call: the bytes that arrived before it cause no wakeup.
        """
        self._is_asked = True

    def hear(self) -> None:
        """Consume the wakeup, so that the descriptor is no longer readable."""
        with suppress(BlockingIOError):
            os.read(self.fd, 1)

    def ring(self) -> None:
        """Wake the reader if it has asked."""
        if self._is_asked:
            self._is_asked = False
            with suppress(OSError):
                os.write(self._bell_fd, b"!")
