"""Searches the contents of sessions in a thread, and reports what it finds to the screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from agentwatch.machine.contents.search import ContentsSearch, Hit

_SLICE_SECONDS = 0.01
_YIELD_SECONDS = 0.001
"""The pause after a slice: the screen gets the interpreter's lock."""
_REPORT_SECONDS = 0.1
"""The time between two reports; the first hits are reported at once."""
_END_SECONDS = 1.0


class Progress(NamedTuple):
    """How far a search is, and what it has found since the last report."""

    hits: list[Hit]
    searched: int
    total: int
    skipped: int
    is_over: bool


class Searching:
    """Goes on with a search until it is over, or is stopped."""

    def __init__(
        self,
        search: ContentsSearch,
        report: Callable[[Progress], object],
        fail: Callable[[Exception], object],
    ) -> None:
        """Create the thread; it does nothing until `start`.

        Args:
            search: The search. Only the thread uses it.
            report: Is called with what is new, in the thread.
            fail: Is called with the exception that has ended the thread, in the thread.
        """
        self._search = search
        self._report = report
        self._fail = fail
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="contents", daemon=True)

    def start(self) -> None:
        """Start to search."""
        self._thread.start()

    def stop(self) -> None:
        """End the search after its present slice; a disk that hangs is not waited for."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        try:
            self._go_on()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: the app ends, and names the error
            if not self._ended.is_set():
                self._fail(error)
        finally:
            self._search.close()

    def _go_on(self) -> None:
        search = self._search
        hits: list[Hit] = []
        reported_at = 0.0
        has_hits = is_over = False
        while not is_over and not self._ended.wait(_YIELD_SECONDS):
            hits += search.advance(_SLICE_SECONDS)
            is_over, now = search.is_over, time.monotonic()
            if is_over or (hits and not has_hits) or now >= reported_at + _REPORT_SECONDS:
                if self._ended.is_set():
                    return  # the screen may be gone
                reported_at, has_hits = now, has_hits or bool(hits)
                self._report(Progress(hits, search.searched, search.total, search.skipped, is_over))
                hits = []
