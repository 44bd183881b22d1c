"""Textual's Linux driver, hardened: it accepts any byte as input and survives a terminal that goes away."""

from __future__ import annotations

import asyncio
import os
import select
import time
from codecs import getincrementaldecoder
from typing import Any

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread

from agentwatch.recording.wakeup import Wakeup

_READ_BYTES = 1 << 12
_GONE_SECONDS = 0.1
"""The pause after a read without bytes: the terminal is gone, or another process has changed its mode."""


class TolerantWriter(WriterThread):
    """Textual's writer thread, kept alive when the terminal is gone, or later writers would block forever."""

    def run(self) -> None:
        """Write until the end of the queue; once the terminal is gone, discard the rest."""
        try:
            super().run()
        except OSError:
            while self._queue.get() is not None:
                pass


class TolerantDriver(linux_driver.LinuxDriver):
    """Textual's driver, with a loop of its own for the keys.

    Textual decodes input strictly: a single byte 0xFF would end the app, with exit code 0. Its loop also
    wakes ten times a second to see whether the app ends, which takes 0.07 % of a core.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        """Create the driver as Textual does."""
        super().__init__(*given, **options)
        self._stopping = Wakeup()
        self._stopping.ask()

    def start_application_mode(self) -> None:
        """Enter application mode."""
        # start_application_mode reads the class of its writer from its module, and has no parameter for it.
        vars(linux_driver)["WriterThread"] = TolerantWriter
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def _sigcont_application(self, *_: object) -> None:
        """Enter application mode after SIGCONT.

        Textual expects that SIGTSTP came before and ended application mode. Without it (`kill -CONT`,
        `kill -STOP` and `fg`, a terminal that was closed) it would start a second thread for the keys; the
        first would never end, nor would the program. Only what is still running is stopped, and in the event
        loop: a handler that interrupts the queue of the writer would wait for its lock for ever.
        """
        if self._must_signal_resume:
            super()._sigcont_application()
        elif self._is_running():
            asyncio.get_running_loop().call_soon_threadsafe(self._enter_again)

    def _enter_again(self) -> None:
        """Leave application mode and enter it: a shell may have changed the terminal meanwhile."""
        if self._is_running():
            with self.no_automatic_restart():
                self._must_signal_resume = True
                self.suspend_application_mode()
                self.start_application_mode()

    def _is_running(self) -> bool:
        return self._key_thread is not None and self._key_thread.is_alive() and not self.exit_event.is_set()

    def disable_input(self) -> None:
        """End the thread that reads keys, and wait until it has ended."""
        self._stopping.ring()
        super().disable_input()
        self._stopping.hear()
        self._stopping.ask()

    def run_input_thread(self) -> None:
        """Read keys until the app ends; invalid UTF-8 is replaced.

        The thread sleeps until a byte comes or the input is disabled. After each byte it wakes once more,
        when an Escape that nothing followed becomes a key.
        """
        keyboard, stopping = self.fileno, self._stopping.fd
        parser = XTermParser()
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        escape_at: float | None = None
        while True:
            wait = None if escape_at is None else max(escape_at - time.monotonic(), 0)
            ready, _, _ = select.select((keyboard, stopping), (), (), wait)
            if stopping in ready:
                return
            if not ready:
                escape_at = None
            elif data := os.read(keyboard, _READ_BYTES):
                if text := decode(data):  # the parser takes an empty text for the end
                    for event in parser.feed(text):
                        self.process_message(event)
                escape_at = time.monotonic() + constants.ESCAPE_DELAY
            else:
                select.select((stopping,), (), (), _GONE_SECONDS)
            for event in parser.tick():
                self.process_message(event)
