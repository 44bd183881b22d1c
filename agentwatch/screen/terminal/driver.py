"""Textual's Linux driver, hardened: it accepts any byte as input and survives a terminal that goes away."""

from __future__ import annotations

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
        """Enter application mode; also called on SIGCONT, which closing the terminal sends after SIGHUP."""
        # start_application_mode reads the class of its writer from its module, and has no parameter for it.
        vars(linux_driver)["WriterThread"] = TolerantWriter
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def run_input_thread(self) -> None:
        """Read keys until the app ends; invalid UTF-8 is replaced."""
        # run_input_thread also reads the decoder from its module, and does not pass an error handler to it.
        tolerant = partial(getincrementaldecoder("utf-8"), errors="replace")
        vars(linux_driver)["getincrementaldecoder"] = lambda _encoding: tolerant
        super().run_input_thread()
