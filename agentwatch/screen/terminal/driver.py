"""Textual's driver, which bears what terminals really do: any byte as a key, and to be gone."""

from __future__ import annotations

from codecs import getincrementaldecoder
from functools import partial

from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread


class TolerantWriter(WriterThread):
    """Textual's writer, which dies with its terminal: whoever writes then would wait for it for ever."""

    def run(self) -> None:
        """Write until told to stop; to a terminal that is gone nothing more."""
        try:
            super().run()
        except OSError:
            while self._queue.get() is not None:
                pass


class TolerantDriver(linux_driver.LinuxDriver):
    """Textual's driver, which decodes keys strictly: at a single `\\xff` the app would end, with code 0."""

    def start_application_mode(self) -> None:
        """Take the terminal; also when it is continued, which closing it does as well (SIGHUP, SIGCONT)."""
        # start_application_mode takes the class of its writer from its module, and has no parameter for it.
        vars(linux_driver)["WriterThread"] = TolerantWriter
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def run_input_thread(self) -> None:
        """Read keys until the app ends."""
        # run_input_thread takes the decoder from its module too, and gives it no way to treat errors.
        tolerant = partial(getincrementaldecoder("utf-8"), errors="replace")
        vars(linux_driver)["getincrementaldecoder"] = lambda _encoding: tolerant
        super().run_input_thread()
