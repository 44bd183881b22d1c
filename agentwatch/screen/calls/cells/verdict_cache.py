"""The test verdicts of the calls that are drawn, read from the recording when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from textual.widget import Widget

from agentwatch.events import ToolKind
from agentwatch.feed import Feed
from agentwatch.session import Call

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict

_SLICE_SECONDS = 0.004
_MOST_KEPT = 4096
_MOST_WANTED = 256


class VerdictCache:
    """Returns the verdicts that are known, and reads the others after the frame that wanted them.

    Reading the output of a call takes 0.1 ms, of a line of 1 MiB 4 ms. A frame is therefore drawn without the
    verdicts that are not known yet. They are read for 4 ms at a time between frames.
    """

    def __init__(self, feed: Feed, widget: Widget, redraw: Callable[[], object]) -> None:
        """Create an empty cache.

        Args:
            feed: Reads the recording.
            widget: Runs the reading between frames.
            redraw: Called when wanted verdicts have become known.
        """
        self._feed = feed
        self._widget = widget
        self._redraw = redraw
        self._known: dict[int, Verdict | None] = {}
        """By the number of the call. A call that has ended does not change."""
        self._wanted: dict[int, Call] = {}
        self._is_reading = False

    def get(self, call: Call) -> Verdict | None:
        """Return the verdict on a call; None without a verdict, and until it is known."""
        if call.kind is not ToolKind.EXECUTE or call.ended is None:
            return None
        if call.number not in self._known:
            self._want(call)
            return None
        return self._known[call.number]

    def read(self) -> None:
        """Read wanted verdicts for 4 ms, the last first; continue after the next frame if any are left."""
        from agentwatch.analysis.verdict_history.calls import call_verdict

        until = perf_counter() + _SLICE_SECONDS
        has_news = False
        while self._wanted and perf_counter() < until:
            _, call = self._wanted.popitem()
            found = call_verdict(self._feed, call)
            has_news |= found is not None
            self._keep(call.number, found)
        self._is_reading = False
        if has_news:
            self._redraw()
        if self._wanted:
            self._start()

    def _want(self, call: Call) -> None:
        if len(self._wanted) >= _MOST_WANTED:
            self._wanted.clear()  # the user scrolls faster than they are read: only the last frame counts
        self._wanted[call.number] = call
        if not self._is_reading:
            self._start()

    def _start(self) -> None:
        self._is_reading = True
        self._widget.set_timer(0.001, self.read)

    def _keep(self, number: int, found: Verdict | None) -> None:
        if len(self._known) >= _MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known[number] = found
