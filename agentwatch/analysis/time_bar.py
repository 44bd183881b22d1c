"""The time bar: its scale, the moments of the calls, the columns and the recorded silences, and the cells.

The scale is recorded time, or bytes in a recording without times.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import StrEnum
from time import perf_counter
from typing import NamedTuple

from agentwatch.feed.feed import Timeline
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.storage import PAGE, Numbers, Spill
from agentwatch.text.durations import duration_words

_LEAST_MS = 10_000
_LEAST_BYTES = 4096


class Axis:
    """Converts between moments and positions on the scale of the bar. A position is a time in ms since the
    epoch, or a number of bytes if the recording has no times."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    @property
    def has_times(self) -> bool:
        return self._timeline.has_times and self._timeline.first_ms is not None

    @property
    def size(self) -> int:
        """The moment at which everything read so far is shown."""
        return self._timeline.size

    @property
    def begin(self) -> int:
        return self._timeline.first_ms or 0 if self.has_times else 0

    @property
    def end(self) -> int:
        if not self.has_times:
            return self._timeline.size
        return max(self._timeline.last_ms or 0, self.begin)

    def length(self, *, is_growing: bool) -> int:
        """Return the length of the scale, at least 1. It grows in steps, so that the marks seldom move."""
        length = max(self.end - self.begin, 1)
        if not is_growing:
            return length
        step = _LEAST_MS if self.has_times else _LEAST_BYTES
        while step < length:
            step += step // 4
        return step

    def offset_at(self, position: int) -> int:
        """Return the moment at a position: after the last line at or before it."""
        if not self.has_times:
            return min(max(position, 0), self._timeline.size)
        return self._timeline.offset_at(position)

    def position_of(self, moment: int) -> int:
        """Return the position of a moment, between `begin` and `end`."""
        if not self.has_times:
            return moment
        ms = self._timeline.ms_at(moment)
        return self.begin if ms is None else self.position_at(ms)

    def position_at(self, ms: int) -> int:
        """Return the position of a recorded time, between `begin` and `end`."""
        return min(max(ms, self.begin), self.end)

    def silence_ms(self, moment: int, position: int) -> int:
        """Return for how many ms no line was recorded after a moment, at most up to `position`."""
        began_ms = self._timeline.ms_at(moment)
        if began_ms is None:
            return 0
        low, high = began_ms, max(position, began_ms)
        while low < high:
            middle = (low + high) // 2
            if self._timeline.offset_at(middle) > moment:
                high = middle
            else:
                low = middle + 1
        return low - began_ms


_CALLS_AT_ONCE = 64
"""Calls that are read between two readings of the clock."""


class Moments:
    """Moments in order. One in 1,024 stays in memory, the others move to an unlinked file."""

    def __init__(self, spill: Spill) -> None:
        self._numbers = Numbers("Q", spill)
        self._firsts = array("Q")
        """The first number of each page."""
        self.last = 0
        """The last moment; 0 without calls."""

    def __len__(self) -> int:
        return len(self._numbers)

    def append(self, moment: int) -> None:
        self.last = max(self.last, moment)
        if len(self._numbers) % PAGE == 0:
            self._firsts.append(self.last)
        self._numbers.append(self.last)

    def count_to(self, moment: int) -> int:
        """Return the number of moments at or before this one."""
        page = bisect_right(self._firsts, moment) - 1
        if page < 0:
            return 0
        start = page * PAGE
        return start + bisect_right(self._numbers.part(start, min(start + PAGE, len(self))), moment)


class CallMoments:
    """The moments of the calls of a session: 16 bytes for each call, which are kept in a file."""

    def __init__(self, session: Session) -> None:
        spill = Spill()
        self._session = session
        self._calls_read = 0
        self._ended_read = 0
        self.started = Moments(spill)
        self.ended = Moments(spill)
        self.rejected = Moments(spill)

    def update(self, seconds: float) -> bool:
        """Read calls that are new in the session, for about this time; return whether more are left."""
        until = perf_counter() + seconds
        while is_more := self._read_some():
            if perf_counter() >= until:
                break
        return is_more

    def _read_some(self) -> bool:
        calls, ended = self._session.calls, self._session.ended_calls
        last = min(self._calls_read + _CALLS_AT_ONCE, len(calls))
        for index in range(self._calls_read, last):
            self.started.append(moment_after(calls[index].started or calls[index].ended))
        self._calls_read = last
        last = min(self._ended_read + _CALLS_AT_ONCE, len(ended))
        for index in range(self._ended_read, last):
            self._add_ended(ended[index])
        self._ended_read = last
        return self._calls_read < len(calls) or self._ended_read < len(ended)

    def _add_ended(self, call: Call) -> None:
        moment = moment_after(call.ended or call.started)
        self.ended.append(
            moment
        )  # a call that never ended counts as ended with the call before it in the list
        if call.outcome is Outcome.REJECTED:
            self.rejected.append(moment)


def moment_after(place: Place | None) -> int:
    """Return the moment after a line."""
    return 0 if place is None else place.offset + place.length + 1


_LEAST_SILENCE_CELLS = 3
_LEAST_SILENCE_SHARE = 12
_LEAST_SILENCE_MS = 5000
"""A silence is shown if it lasts 5 s, and takes at least three cells and a twelfth of the bar."""


class Silence(NamedTuple):
    """A stretch without any line."""

    first: int
    """The silence's first cell."""
    end: int
    """The cell after its last one."""
    ms: int
    """The silence's real length, even if the scale shortens it."""


class Layout:
    """The cells of a bar of one width, each with the moment at its end."""

    def __init__(self, axis: Axis, width: int, length: int) -> None:
        self._axis = axis
        self.width = width
        self.length = length
        self._has_times = axis.has_times
        self._begin = axis.begin
        self._size = -1
        """The size of the recording at the last update."""
        self.ends = array("q", [0]) * width
        """The moment at the end of each cell."""
        self._silences: dict[int, Silence] = {}
        """The silences by the moment at which they begin; only those that a later line has ended."""

    @property
    def is_valid(self) -> bool:
        """Whether the axis still begins where it did, and measures the same."""
        return (self._has_times, self._begin) == (self._axis.has_times, self._axis.begin)

    def update(self) -> int:
        """Take what was recorded since the last update; return the first cell that may have changed."""
        size = self._axis.size
        if size == self._size:
            return self.width
        first = 0 if self._size < 0 else bisect_left(self.ends, self._size)
        self._size = size
        before = self.ends[first - 1] if first else 0
        for cell in range(first, self.width):
            if before < size:
                before = min(max(self._axis.offset_at(self.position_after(cell) - 1), before), size)
            self.ends[cell] = before
        self.ends[-1] = size  # a line that has no time is shown too
        return first

    def position_after(self, cell: int) -> int:
        """Return the first position after a cell."""
        return self._begin + max(self.length * (cell + 1) // self.width, 1)

    def cell_of(self, moment: int) -> int:
        return min(bisect_left(self.ends, moment), self.width - 1)

    def cell_at(self, moment: int, ms: int) -> int:
        """Return the cell of a time. In a silence the cell advances while the moment stays the same."""
        cell = self.cell_of(moment)
        if not self._has_times:
            return cell
        following = min(bisect_right(self.ends, moment), self.cell_of(self._size))
        by_time = (self._axis.position_at(ms) - self._begin) * self.width // self.length
        return max(min(by_time, following), cell)

    def silences(self) -> list[Silence]:
        """Return the long silences, from left to right."""
        found: list[Silence] = []
        if not self._has_times:
            return found
        last, cell = self.cell_of(self._size), 1
        while cell < last:
            first, moment = cell, self.ends[cell - 1]
            while cell < last and self.ends[cell] == moment:
                cell += 1
            cells = cell - first
            if cells >= _LEAST_SILENCE_CELLS and cells * _LEAST_SILENCE_SHARE >= self.width:
                silence = self._silence(moment, first, cell)
                found += [silence] if silence.ms >= _LEAST_SILENCE_MS else []
            cell = max(cell, first + 1)
        return found

    def _silence(self, moment: int, first: int, end: int) -> Silence:
        silence = self._silences.get(moment)
        if silence is None:
            ms = self._axis.silence_ms(moment, self.position_after(end))
            silence = self._silences[moment] = Silence(first, end, ms)
        return silence


_HEIGHTS = "▁▂▃▄▅▆▇█"
_LEAST_FULL = 4
"""The least number of calls that fill a cell."""


class Kind(StrEnum):
    """What a cell shows. Each kind has a sign of its own, so that the bar can be read without colours."""

    EMPTY = "empty"
    CALL = "call"
    """Calls ended here."""
    BUSY = "busy"
    """A call ran here, and none ended."""
    SILENCE = "silence"
    """A part of a long stretch without any line."""
    FAILURE = "failure"
    """A call failed, and was not tried again. Other failed calls are drawn as calls."""
    REJECTION = "rejection"
    RED = "red"
    """Tests failed, and did not pass later."""
    MENDED = "mended"
    """Tests failed, and passed later."""
    GREEN = "green"
    """Tests passed."""
    ALARM = "alarm"
    """A rule was hit."""
    BOOKMARK = "bookmark"
    HANDLE = "handle"
    """The moment that is shown."""


class Cell(NamedTuple):
    """One column of the bar."""

    sign: str
    kind: Kind
    is_ahead: bool = False
    """Whether it lies after the moment that is shown."""
    is_bookmarked: bool = False
    """Whether a failure, which is drawn, hides a bookmark."""


_BLANK = Cell(" ", Kind.EMPTY)
_DRAWN = {
    Kind.EMPTY: _BLANK,
    Kind.BUSY: Cell("━", Kind.BUSY),
    Kind.REJECTION: Cell("⊘", Kind.REJECTION),
}
_VERDICTS = {
    Kind.RED: Cell("✗", Kind.RED),
    Kind.MENDED: Cell("✗", Kind.MENDED),
    Kind.GREEN: Cell("✓", Kind.GREEN),
}
_LINES = "━─"
_AHEAD = "╌"


class Bar:
    """The bar of one whole session: a few comparisons per cell and frame, whatever the number of calls."""

    def __init__(self, session: Session, axis: Axis) -> None:
        self._session = session
        self._axis = axis
        self.calls = CallMoments(session)
        self._layout = Layout(axis, 1, 1)
        self._kinds: list[Kind] = []
        self._counts: list[int] = []
        """The number of calls that ended in each cell."""
        self._cells: list[Cell] = []
        """The cells as drawn, without the marks that the caller passes."""
        self._calls_drawn = (0, 0)
        """The number of starts and of ends that the cells contain."""
        self._drawn_to = 0
        """The moment up to which the cells contain every start and every end."""

    def lay_out(self, width: int) -> bool:
        """Lay out the session as it is now in `width` cells; return whether any cell changed."""
        length = self._axis.length(is_growing=not self._session.is_closed)
        layout = self._layout
        if (layout.width, layout.length) != (width, length) or not layout.is_valid or not self._cells:
            layout = self._layout = Layout(self._axis, width, length)
            self._kinds, self._counts = [Kind.EMPTY] * width, [0] * width
            self._calls_drawn, self._drawn_to = (0, 0), 0
        first = layout.update()
        started, ended = self.calls.started, self.calls.ended
        if (len(started), len(ended)) != self._calls_drawn:
            first = min(first, layout.cell_of(self._drawn_to))
            self._calls_drawn, self._drawn_to = (len(started), len(ended)), min(started.last, ended.last)
        if first < layout.width:
            self._count(first)
            self._draw()
        return first < layout.width

    @property
    def width(self) -> int:
        return self._layout.width

    def cells(
        self,
        handle: int,
        bookmarks: Sequence[tuple[int, str]] = (),
        verdicts: Sequence[tuple[int, Kind]] = (),
        alarms: Sequence[tuple[int, str]] = (),
        failures: Sequence[int] = (),
    ) -> list[Cell]:
        """Return the cells, from left to right. `failures` are the open failures: each is drawn unless a rule
        was hit in its cell. A bookmark is drawn only in a cell without either. `handle` is the cell of the
        moment that is shown."""
        cells, place = [*self._cells], self._layout.cell_of
        for at in failures:
            cells[place(at)] = Cell("✗", Kind.FAILURE)
        for at, kind in verdicts:
            cell = place(at)
            if kind is Kind.RED or cells[cell].kind not in (Kind.RED, Kind.FAILURE, Kind.REJECTION):
                cells[cell] = _VERDICTS[kind]
        for at, _ in alarms:
            cells[place(at)] = Cell("▲", Kind.ALARM)
        for at, _ in bookmarks:
            cell = place(at)
            is_hidden = cells[cell].kind in (Kind.RED, Kind.FAILURE, Kind.ALARM)
            cells[cell] = cells[cell]._replace(is_bookmarked=True) if is_hidden else Cell("◈", Kind.BOOKMARK)
        last = place(self._axis.size)
        for cell in range(handle + 1, last + 1):
            each = cells[cell]
            is_line = each.sign in _LINES or each.kind is Kind.EMPTY
            cells[cell] = each._replace(sign=_AHEAD if is_line else each.sign, is_ahead=True)
        is_failure = cells[handle].kind in (Kind.RED, Kind.FAILURE)
        cells[handle] = Cell("⊗" if is_failure else "●", Kind.HANDLE)
        return cells

    def cell_of(self, moment: int, ms: int | None = None) -> int:
        """Return the cell of a moment. A later moment is never in an earlier cell. `ms` is the recorded time
        that is shown: in a silence it passes while the moment stays. None is the time of the moment's last
        line."""
        return self._layout.cell_of(moment) if ms is None else self._layout.cell_at(moment, ms)

    def moment_of(
        self,
        cell: int,
        bookmarks: Sequence[tuple[int, str]] = (),
        verdicts: Sequence[tuple[int, Kind]] = (),
        alarms: Sequence[tuple[int, str]] = (),
        failures: Sequence[int] = (),
    ) -> int:
        """Return the moment to which a click on a cell leads: of its first mark, else the end of the cell. A
        cell outside the bar counts as the nearest."""
        ends = self._layout.ends
        cell = min(max(cell, 0), self.width - 1)
        begin, end = ends[cell - 1] if cell else 0, ends[cell]
        marks = (*(at for at, _ in (*bookmarks, *verdicts, *alarms)), *failures)
        return min((at for at in marks if begin < at <= end), default=end)

    def ms_of(self, cell: int) -> int | None:
        """Return the recorded time at the end of a cell, in ms since the epoch; None without times."""
        axis = self._axis
        if not axis.has_times:
            return None
        cell = min(max(cell, 0), self.width - 1)
        return min(self._layout.position_after(cell) - 1, axis.end)

    def percent_of(self, moment: int, ms: int | None = None) -> int:
        """Return the share of the session before a moment, in whole percent; 100 only at its end."""
        axis = self._axis
        if moment >= axis.size:
            return 100
        position = axis.position_of(moment)
        if ms is not None and axis.has_times:
            position = axis.position_at(ms)
        return min(100 * (position - axis.begin) // max(axis.end - axis.begin, 1), 99)

    def _count(self, first: int) -> None:
        """Count again what happened in the cells from `first` on."""
        ends, calls = self._layout.ends, self.calls
        before = self._counted(ends[first - 1]) if first else (0, 0)
        for cell in range(first, self.width):
            is_still = cell and ends[cell] == ends[cell - 1]
            done, rejected = before if is_still else self._counted(ends[cell])
            self._counts[cell] = done - before[0]
            if rejected > before[1]:
                self._kinds[cell] = Kind.REJECTION
            elif done > before[0]:
                self._kinds[cell] = Kind.CALL
            else:
                is_busy = calls.started.count_to(ends[cell]) > done
                self._kinds[cell] = Kind.BUSY if is_busy else Kind.EMPTY
            before = done, rejected

    def _counted(self, moment: int) -> tuple[int, int]:
        """Return how many calls had ended, and how many were rejected, at a moment."""
        return self.calls.ended.count_to(moment), self.calls.rejected.count_to(moment)

    def _draw(self) -> None:
        full = _full(max(self._counts))
        self._cells = [
            _DRAWN.get(kind) or Cell(_HEIGHTS[(len(_HEIGHTS) * count - 1) // full], kind)
            for kind, count in zip(self._kinds, self._counts, strict=True)
        ]
        last = self._layout.cell_of(self._axis.size)
        self._cells[last + 1 :] = [_BLANK] * (self.width - last - 1)
        for first, end, ms in self._layout.silences():
            is_busy = self._kinds[first] is Kind.BUSY
            line = "━" if is_busy else "─"
            words = f" {duration_words(ms)} "
            if len(words) + 2 > end - first:
                words = ""
            for cell, sign in enumerate(words.center(end - first, line), first):
                self._cells[cell] = Cell(sign, Kind.BUSY if is_busy and sign == line else Kind.SILENCE)


def _full(most: int) -> int:
    """Return how many calls fill a cell: a step at or above the most in a cell, so that it seldom changes."""
    step = _LEAST_FULL
    while step < most:
        step += step // 4
    return step
