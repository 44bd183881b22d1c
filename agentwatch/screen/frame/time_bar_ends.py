"""What stands at both ends of the time bar: times, test runs, speed, and the share of the session."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.screen.lines.line_view import Spans
from agentwatch.text.safe import SafeText, columns
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from agentwatch.analysis.verdict_history import CallVerdict

_LEAST_WITH_TIMES = 60
_LEAST_WITH_RIBBON = 100
_RIBBON_SHARE = 6
"""The ribbon takes a sixth of the row, however many test runs it shows, so that the bar does not move."""
_SPEED = 8
"""The columns of the speed, `◀ ×0.25`, with a blank before it. They are kept free while nothing is played."""
_PERCENT = 6


class Ends(NamedTuple):
    """The two ends of the row, and the place of the bar between them."""

    left: Spans
    right: Spans
    start: int
    """The column of the bar's first cell."""
    width: int
    """The number of cells."""
    places: tuple[tuple[int, int, int], ...] = ()
    """For each verdict of the ribbon: its first column, the column after it, and its index."""

    def verdict_at(self, x: int) -> int | None:
        """Return the index of the verdict in a column; None in other columns."""
        return next((index for start, end, index in self.places if start <= x < end), None)


NO_ENDS = Ends([], [], 0, 1)


class EndWords(NamedTuple):
    """What the ends of the row say."""

    begin: SafeText
    """The time of the first line; empty if the recording has no times."""
    end: SafeText
    """The time of the last line, or `live`; empty if neither is known."""
    speed: SafeText
    percent: int
    """The share of the session before the moment."""


def ends(width: int, words: EndWords, verdicts: Sequence[CallVerdict], moment: int) -> Ends:
    """Return the ends of a row of `width` columns.

    A narrow row shows the share of the session instead of its times and its test runs. The bar is as wide as
    the row allows, and its width depends on nothing that changes while the session is shown.

    Args:
        width: The width of the row, in columns.
        words: What the ends say.
        verdicts: The test runs, the newest last.
        moment: The moment that is shown; later test runs are dimmed.
    """
    if width < _LEAST_WITH_TIMES:
        right = SafeText(f"{words.speed:>{_SPEED}}{f'{words.percent} %':>{_PERCENT}} ")
        return Ends([(SafeText(" "), "label")], [(right, "playhead")], 2, max(width - len(right) - 3, 1))
    left = SafeText(f" {words.begin} " if words.begin else " ")
    end = SafeText(f" {words.end:<5}")
    speed = SafeText(f"{words.speed:>{_SPEED}} ")
    room = width // _RIBBON_SHARE if width >= _LEAST_WITH_RIBBON and verdicts else 0
    bar = width - columns(left) - columns(end) - room - columns(speed) - 2
    start = columns(left) + 1
    ribbon, places = _ribbon(verdicts, moment, room, start + bar + 1 + columns(end))
    return Ends([(left, "label")], [(end, "label"), *ribbon, (speed, "playhead")], start, max(bar, 1), places)


def _ribbon(
    verdicts: Sequence[CallVerdict], moment: int, room: int, start: int
) -> tuple[Spans, tuple[tuple[int, int, int], ...]]:
    """Return the ribbon in exactly `room` columns from column `start` on, and the places of its verdicts."""
    shown = bisect_right(verdicts, moment, key=lambda each: each.moment) - 1
    spans: Spans = []
    places = []
    if room:
        from agentwatch.analysis.verdict_history.ribbons import ribbon_pieces

        pieces = ribbon_pieces(verdicts, room - 2, max(shown, 0))
    else:
        pieces = []
    x = start
    for piece in pieces:
        name = "ahead"
        if piece.at is not None:
            name = "red" if verdicts[piece.at].is_red else "green"
            places.append((x + 1, x + 1 + columns(piece.words), piece.at))
            name = f"{name}-ahead" if piece.at > shown else name
        spans += [(SafeText(" "), "label"), (piece.words, name)]
        x += 1 + columns(piece.words)
    return [*spans, (SafeText(" " * (start + room - x)), "label")], tuple(places)


def clock_words(epoch_ms: int | None) -> SafeText:
    """Return a time in the user's time zone without its seconds, `14:03`; empty if it is unknown."""
    return SafeText("" if epoch_ms is None else time_of_day(epoch_ms)[:5])
