"""The time bar below the panes: the whole session in one row, with the moment that is shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from agentwatch.analysis.time_bar import Axis, Bar, Cell, Kind
from agentwatch.feed.feed import Timeline
from agentwatch.screen.terminal.frames import eager_classes
from agentwatch.screen.widgets.line_view import Posted, Spans
from agentwatch.screen.widgets.painting import LineStyles
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText, columns, cut, safe_line
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from agentwatch.analysis.verdict_history import CallVerdict


# The words at both ends of the time bar: times, test runs, speed, and the share of the session.

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
    width: int
    places: tuple[tuple[int, int, int], ...] = ()
    """The first column, the column after the last, and the index of each verdict of the ribbon."""

    def verdict_at(self, x: int) -> int | None:
        return next((index for start, end, index in self.places if start <= x < end), None)


NO_ENDS = Ends([], [], 0, 1)


class EndWords(NamedTuple):
    begin: SafeText
    """The time of the first line; empty if the recording has no times."""
    end: SafeText
    """The time of the last line, or `end` without times; `live` while the session may grow."""
    speed: SafeText
    percent: int


def ends(width: int, words: EndWords, verdicts: Sequence[CallVerdict], moment: int) -> Ends:
    """Return the ends of a row. A narrow row shows the share of the session instead of times and test runs.
    The bar's width depends on nothing that changes meanwhile. Test runs after `moment` are dimmed."""
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
        from agentwatch.analysis.verdict_history import ribbon_pieces

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
    """Return the time of day, such as `14:03`, in the user's time zone; empty if it is unknown."""
    return SafeText("" if epoch_ms is None else time_of_day(epoch_ms)[:5])


_SLICE_SECONDS = 0.008
_PAUSE_SECONDS = 0.001
"""Seconds of reading calls, and the pause after them, until all are read: 100,000 within 3 s."""
_PARTS = ("ahead", "bookmarked", "frame", "label", "playhead", "pointed", "red-ahead", "green-ahead")
"""The styles of the row besides those of its cells."""


class TimeBar(Widget):
    """Shows the session as a bar: calls, failures, test runs, silences, bookmarks and the moment. A click or
    a drag seeks. While the mouse is over the bar, the time below it is shown at the right."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = eager_classes(f"line--{name}" for name in (*Kind, *_PARTS))

    class Sought(Posted):
        offset: int

    class VerdictChosen(Posted):
        number: int

    def __init__(self) -> None:
        super().__init__(id="time-bar")
        self.line_style = LineStyles(self)
        self._session: Session | None = None
        self._timeline: Timeline | None = None
        self._bar: Bar | None = None
        self._ends = NO_ENDS
        self._words = SafeText("")
        self._moment = 0
        self._at_ms: int | None = None
        self._bookmarks: Sequence[tuple[int, str]] = ()
        self._verdicts: Sequence[CallVerdict] = ()
        self._alarms: Sequence[tuple[int, SafeText]] = ()
        self._failures: Sequence[int] = ()
        self._drawn: tuple[object, ...] = ()
        self._cells: list[Cell] = []
        self._pointed: int | None = None
        """The column of the mouse; None while it is elsewhere."""
        self._sought: int | None = None
        """The moment to which the present drag has led; None while the button is not pressed."""
        self._is_reading = False

    def show(
        self,
        session: Session,
        timeline: Timeline,
        moment: int,
        words: SafeText,
        bookmarks: Sequence[tuple[int, str]] = (),
        verdicts: Sequence[CallVerdict] = (),
        at_ms: int | None = None,
        alarms: Sequence[tuple[int, SafeText]] = (),
        failures: Sequence[int] = (),
    ) -> None:
        """Show a moment of a session; redraw only if something changed. `session` is the whole session, not
        that of the moment, which is a number of bytes of the recording. `words` are the speed and the
        direction: `×4 ▶`. `at_ms` is the recorded time that is shown: in a silence it passes while the moment
        stays. None is the time of the moment's last line. `alarms` may grow later. `failures` are the moments
        of the calls that failed and were not tried again."""
        if (session, timeline) != (self._session, self._timeline):
            self._session, self._timeline = session, timeline
            self._bar = Bar(session, Axis(timeline))
        self._moment, self._at_ms, self._words = moment, at_ms, words
        self._bookmarks, self._verdicts, self._alarms = tuple(bookmarks), tuple(verdicts), alarms
        self._failures = failures
        if not self._is_reading:
            self._read()

    @property
    def is_dragged(self) -> bool:
        """Whether the button is pressed on the bar, which then has all mouse events."""
        return self._sought is not None

    def render_line(self, y: int) -> Strip:
        del y
        if not self._cells:
            return Strip.blank(self.size.width, self.rich_style)
        spans = [*self._ends.left, *self._bar_spans(), *self._right()]
        strip = Strip([Segment(text, self.line_style(name)) for text, name in spans if text])
        return strip.adjust_cell_length(self.size.width).apply_style(self.rich_style)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.line_style.forget()

    def on_resize(self) -> None:
        self._update()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        verdict = self._ends.verdict_at(event.x)
        if verdict is not None and verdict < len(self._verdicts):
            self.post_message(self.VerdictChosen(self._verdicts[verdict].number))
            return
        if event.button != 1:
            return
        self.capture_mouse()
        self._sought = -1
        self._point(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._point(event.x)

    def on_mouse_up(self) -> None:
        self._sought = None
        self.release_mouse()

    def on_leave(self) -> None:
        self._pointed = None
        self._update()

    def _point(self, x: int) -> None:
        self._pointed = x
        self._update()
        bar = self._bar
        if self._sought is None or bar is None:
            return
        sought = self._moment_at(bar, x)
        if sought != self._sought:
            self._sought = sought
            self.post_message(self.Sought(sought))

    def _moment_at(self, bar: Bar, x: int) -> int:
        """Return the moment of a column; left of the bar the beginning, right of it the end."""
        cell = x - self._ends.start
        if cell < -1:
            return 0
        if cell > bar.width:
            return self._timeline.size if self._timeline is not None else 0
        return bar.moment_of(cell, self._bookmarks, self._marks(), self._alarms, self._failures)

    def _marks(self) -> list[tuple[int, Kind]]:
        """Return the mark of each test run; a red run before a green one does not look like a failure."""
        passed: set[str] = set()
        marks = []
        for each in reversed(self._verdicts):
            red = Kind.MENDED if each.verdict.tool in passed else Kind.RED
            marks.append((each.moment, red if each.is_red else Kind.GREEN))
            if not each.is_red:
                passed.add(each.verdict.tool)
        return marks[::-1]

    def _read(self) -> None:
        """Read new calls for 8 ms; if more are left, continue after the next frame."""
        self._is_reading = self._bar is not None and self._bar.calls.update(_SLICE_SECONDS)
        if self._is_reading and self.is_attached:
            self.set_timer(_PAUSE_SECONDS, self._read)
        self._update()

    def _update(self) -> None:
        bar, session, timeline = self._bar, self._session, self._timeline
        if bar is None or session is None or timeline is None or not self.size.width:
            return
        first_ms, last_ms = (timeline.first_ms, timeline.last_ms) if timeline.has_times else (None, None)
        end = clock_words(last_ms) or SafeText("end") if session.is_closed else SafeText("live")
        words = EndWords(clock_words(first_ms), end, self._words, bar.percent_of(self._moment, self._at_ms))
        row = ends(self.size.width, words, self._verdicts, self._moment)
        has_changed = bar.lay_out(row.width)
        handle = bar.cell_of(self._moment, self._at_ms)
        drawn = (
            row,
            handle,
            self._bookmarks,
            self._verdicts,
            len(self._alarms),
            self._failures,
            self._pointed,
        )
        if has_changed or drawn != self._drawn:
            self._drawn, self._ends = drawn, row
            self._cells = bar.cells(handle, self._bookmarks, self._marks(), self._alarms, self._failures)
            self.refresh()

    def _bar_spans(self) -> Iterator[tuple[SafeText, str]]:
        """Yield the cells between the two ends of the bar, those of one style together."""
        pointed = None if self._pointed is None else self._pointed - self._ends.start
        yield SafeText("▏"), "frame"
        named = ((cell.sign, _style(cell, is_pointed=at == pointed)) for at, cell in enumerate(self._cells))
        for name, cells in groupby(named, key=lambda one: one[1]):
            yield SafeText("".join(sign for sign, _ in cells)), name
        yield SafeText("▕"), "frame"

    def _right(self) -> Spans:
        row, bar = self._ends, self._bar
        if self._pointed is None or bar is None:
            return row.right
        moment = self._moment_at(bar, self._pointed)
        ms = bar.ms_of(self._pointed - row.start)
        cell = bar.cell_of(moment)
        names = [words for at, words in self._alarms if bar.cell_of(at) == cell]
        names += [safe_line(name) for at, name in self._bookmarks if name and bar.cell_of(at) == cell]
        words = time_of_day(ms) if ms is not None else f"{bar.percent_of(moment)} %"
        words = " · ".join([words, *names[:1]])
        room = self.size.width - row.start - row.width - 1
        return [(SafeText(" "), "label"), (cut(SafeText(words), max(room - 1, 1)), "pointed")]


def _style(cell: Cell, *, is_pointed: bool) -> str:
    if is_pointed:
        return "pointed"
    if cell.is_bookmarked:
        return "bookmarked"
    is_dim = cell.is_ahead and cell.kind in (Kind.EMPTY, Kind.CALL, Kind.BUSY, Kind.SILENCE)
    return "ahead" if is_dim else str(cell.kind)


def playhead_words(speed: float, *, is_reversed: bool, is_paused: bool) -> SafeText:
    """Return the state of the playhead, such as `×4 ▶`, `◀ ×8`, `‖`, or `‖ ×4` for a pause at ×4."""
    if is_paused:
        return SafeText("‖" if speed == 1 else f"‖ ×{speed:g}")
    return SafeText(f"◀ ×{speed:g}" if is_reversed else f"×{speed:g} ▶")
