"""Textual's Linux driver, hardened: it accepts any byte as input and survives a terminal that goes away."""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from functools import partial

from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread


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
    """Textual's driver, extended to survive input that is not UTF-8.

    Textual decodes input strictly: a single byte 0xFF would end the app, with exit code 0.
    """

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

    def run_input_thread(self) -> None:
        """Read keys until the app ends; invalid UTF-8 is replaced."""
        # run_input_thread also reads the decoder from its module, and does not pass an error handler to it.
        tolerant = partial(getincrementaldecoder("utf-8"), errors="replace")
        vars(linux_driver)["getincrementaldecoder"] = lambda _encoding: tolerant
        super().run_input_thread()
