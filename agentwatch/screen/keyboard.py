"""Keys as they come: a byte that is no UTF-8 is a key that nothing is bound to."""

from __future__ import annotations

from codecs import getincrementaldecoder
from functools import partial

from textual.drivers import linux_driver


class TolerantDriver(linux_driver.LinuxDriver):
    """Textual's driver, which decodes keys strictly: at a single `\\xff` the app would end, with code 0."""

    def run_input_thread(self) -> None:
        """Read keys until the app ends."""
        tolerant = partial(getincrementaldecoder("utf-8"), errors="replace")
        vars(linux_driver)["getincrementaldecoder"] = lambda _encoding: tolerant
        super().run_input_thread()
