"""The column of the transcript that shows the time at which each entry began."""

from __future__ import annotations

from textual.strip import Strip

from agentwatch.actions import ended_ms
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.transcript.block_viewport import BlockViewport
from agentwatch.session import Entry
from agentwatch.text.safe import SafeText
from agentwatch.text.times import time_of_day

_TIME_COLUMNS = 9


class TimeGutter:
    """A column for the time at which each entry began; it is 9 columns wide, or hidden."""

    def __init__(self, pane: LineView, viewport: BlockViewport) -> None:
        self._pane = pane
        self._viewport = viewport
        self.columns = 0

    @property
    def is_shown(self) -> bool:
        """Whether the times are shown."""
        return self.columns > 0

    def show(self, shown: bool) -> None:
        """Show or hide the times; the text at the top of the viewport stays there."""
        self.columns = _TIME_COLUMNS if shown else 0
        self.wrap()

    def wrap(self) -> None:
        """Wrap the transcript to the width beside the times."""
        if width := self._pane.scrollable_content_region.width:
            self._viewport.wrap(max(width - self.columns, 1))
            self._pane.painter.forget()
            self._pane.refresh()

    def beside(self, strip: Strip, entry: Entry, *, is_first: bool) -> Strip:
        """Return a line of an entry with the gutter before it; the time is in the entry's first line."""
        if not self.columns:
            return strip
        began_ms = _began_ms(entry) if is_first else None
        time = "" if began_ms is None else time_of_day(began_ms)
        return Strip.join([self._pane.strip_of([(SafeText(f"{time:<{_TIME_COLUMNS}}"), "muted")]), strip])


def _began_ms(entry: Entry) -> int | None:
    """Return when an entry began, in ms since the epoch; None if unknown."""
    call = entry.call
    if call is None:
        return entry.started_ms
    started = call.started.seen_ms if call.started is not None else None
    return call.started_ms or started or ended_ms(call)
