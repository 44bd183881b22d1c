"""The list of sessions: only the rows in view are drawn, and only if they show something else than before."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from agentwatch.agents.session_entry import Key
from agentwatch.catalog.hiding import DAY_MS, SHOWN_DAYS
from agentwatch.catalog.listing import FoldLine, Heading, Line, Listing, RowLine, Sort
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, Group
from agentwatch.screen.keys import bindings
from agentwatch.screen.screens.sessions import cells, words
from agentwatch.screen.screens.sessions.cells import (
    LEAST_FOR_ONE_ROW,
    NO_ROWS,
    Columns,
    Widths,
    columns_for,
    grown,
)
from agentwatch.screen.screens.sessions.rings import why_silent
from agentwatch.screen.screens.sessions.tmux import pane_of
from agentwatch.screen.screens.sessions.words import foreign
from agentwatch.screen.terminal.compositor import LightStrip
from agentwatch.screen.terminal.frames import eager_classes
from agentwatch.screen.widgets.line_view import HeadedView, RowView, Spans
from agentwatch.screen.widgets.painting import CHOSEN_MARK, chosen_row, mark_strip
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, wrapped
from agentwatch.text.times import day_words

# The rows of the pane that each line of the list takes: one, or two for a session in a narrow pane.


class ScreenRows:
    def __init__(self) -> None:
        self.lines: Sequence[Line] = ()
        self.is_wide = True
        self._ends: list[int] = []
        """The row after each line, in a narrow pane."""
        self._headings: list[int] = []
        """The indexes of the headings, repositories included."""

    def __len__(self) -> int:
        if self.is_wide:
            return len(self.lines)
        return self._ends[-1] if self._ends else 0

    def put(self, lines: Sequence[Line], *, is_wide: bool) -> None:
        """Lay out other lines, or the same lines in another width."""
        if lines is self.lines and is_wide is self.is_wide:
            return
        self.lines, self.is_wide = lines, is_wide
        above = [at for at, line in enumerate(lines) if not isinstance(line, RowLine)]
        self._headings = [at for at in above if is_heading(lines[at])]
        heights = () if is_wide else (2 if isinstance(line, RowLine) else 1 for line in lines)
        self._ends = [*accumulate(heights)]

    def at(self, y: int) -> tuple[int, int]:
        if self.is_wide:
            return y, 0
        index = bisect_right(self._ends, y)
        return index, y - self.top(index)

    def top(self, index: int) -> int:
        """Return the first row of a line; the number of rows for an index after the last line."""
        if self.is_wide or index <= 0:
            return max(index, 0)
        return self._ends[index - 1]

    def rows(self, index: int) -> range:
        return range(self.top(index), self.top(index + 1))

    def heading_above(self, index: int) -> int | None:
        """Return the index of the heading below which a line is; None for a heading, and without one."""
        at = bisect_right(self._headings, index) - 1
        return None if at < 0 or self._headings[at] == index else self._headings[at]

    def is_selectable(self, index: int) -> bool:
        return not isinstance(self.lines[index], Heading)

    def find(self, wanted: object, near: int) -> int | None:
        """Return the index of the line with an identity, which is probably `near`; None for none."""
        if wanted is None:
            return None
        if near < len(self.lines) and identity(self.lines[near]) == wanted:
            return near
        return next((at for at, line in enumerate(self.lines) if identity(line) == wanted), None)

    def selectable(self, index: int, step: int) -> int | None:
        """Return the index of the nearest line that can be selected, from `index` on in steps of 1 or -1."""
        while 0 <= index < len(self.lines):
            if not isinstance(self.lines[index], Heading):
                return index
            index += step
        return None

    def nearest(self, index: int) -> int | None:
        """Return the index of a line that can be selected: `index`, or a line after it, or one before it."""
        index = max(0, min(index, len(self.lines) - 1))
        later = self.selectable(index, 1)
        return self.selectable(index, -1) if later is None else later


def identity(line: Line) -> object:
    """Return what distinguishes a line from all others of the list, in every later list too."""
    if isinstance(line, RowLine):
        return line.row.key
    if isinstance(line, Heading):
        return line.group, line.day_ms, line.is_folds, line.older > 0
    return line.fold


def is_heading(line: Line) -> bool:
    return isinstance(line, Heading) or (isinstance(line, FoldLine) and line.fold[0] == _REPOSITORY)


# What each row of the list shows: a heading, a session, or a line for several.

_INDENT = "  "
_REPOSITORY = "repository"
_LEAST_FOR_HEADING = 4
"""The least rows in which the heading of the first row in view is kept."""
_MARK = "•"
_NO_MARK = Strip.blank(1)
_SECOND_MS, _MINUTE_MS, _HOUR_MS = 1_000, 60_000, 3_600_000
_HEADINGS = {Group.NEEDS_YOU: "asks", Group.FAILED: "failed", Group.WORKING: "working"}
"""The styles of groups; all other groups have that of a heading."""


Layout = tuple[int, Widths, Sequence[str], bool]
"""The width of a row, what its columns need, those that are chosen, and whether days are headings."""


class DrawnRow(NamedTuple):
    line: Line | None
    """The line that the row shows; None for a row of the words of an empty list."""
    part: int
    """The number of the row within the line."""
    times: range
    """The range of times in which the row looks the same, if the line does not change."""
    is_chosen: bool
    layout: Layout
    spans: Spans


def times_of(line: Line, now_ms: int) -> range:
    """Return the times from `now_ms` on at which a line looks the same. A session that runs has clocks of
    seconds, which are made again at each tick. In one that does not run, only the age changes, and at
    midnight the time of its end becomes a day: old ones are made again with each minute, all at once."""
    minute_ms = _MINUTE_MS - now_ms % _MINUTE_MS
    if not isinstance(line, RowLine):
        return range(now_ms, now_ms + minute_ms if isinstance(line, Heading) else sys.maxsize)
    row, status = line.row, line.row.status
    if status.state in LIVE or row.lost_ms is not None or words.last_act(row, now_ms):
        return range(now_ms, now_ms + 1)
    age_ms = _HOUR_MS if row.began_ms is None else max(now_ms - row.began_ms, 0)
    if age_ms >= _HOUR_MS:
        return range(now_ms, now_ms + min(_HOUR_MS - age_ms % _HOUR_MS, minute_ms))
    unit_ms = _SECOND_MS if age_ms < _MINUTE_MS else _MINUTE_MS
    return range(now_ms, now_ms + unit_ms - age_ms % unit_ms)


class KeptCells(NamedTuple):
    row: Row
    columns: Columns
    depth: int
    cells: Sequence[Spans]


class LineContent:
    """Makes the contents of rows; the widths of the columns only grow while the width of the pane stays."""

    def __init__(self) -> None:
        self.width = 0
        self.nothing = SafeText("")
        self.chosen: Sequence[str] = ()
        self.has_days = False
        self._needed = NO_ROWS
        self._measured: Sequence[Row] = ()
        self._columns: Columns | None = None
        self._kept: dict[Key, KeptCells] = {}

    @property
    def is_wide(self) -> bool:
        return self.width >= LEAST_FOR_ONE_ROW

    @property
    def layout(self) -> Layout:
        return self.width, self._needed, self.chosen, self.has_days

    def choose(self, columns: Sequence[str]) -> None:
        self.chosen, self._columns = columns, None
        self._measured = ()

    def nothing_rows(self, height: int) -> list[Spans]:
        if not self.nothing or self.width < 1:
            return []
        rows = [row for line in self.nothing.split("\n") for row in wrapped(SafeText(line), self.width)]
        lead = SafeText(" " * max((self.width - max(map(columns, rows))) // 2, 0))
        above = max((height - len(rows)) // 2, 0)
        return [[] for _ in range(above)] + [[(lead, ""), (row, "muted")] for row in rows]

    def fit(self, width: int) -> None:
        if width != self.width:
            self.width, self._needed, self._columns = width, NO_ROWS, None
            self._measured = ()

    def measure(self, rows: Sequence[Row], now_ms: int) -> None:
        came = {*map(id, rows)}.difference(map(id, self._measured))
        new = [row for row in rows if id(row) in came] if came else []
        needed = grown(self._needed, new, now_ms, self.chosen) if new else self._needed
        self._measured = rows
        if needed != self._needed:
            self._needed, self._columns = needed, None
        if "cost" in self.chosen and any(row.uses for row in new):
            from agentwatch.catalog.kept_prices import keep

            keep()

    def spans(self, line: Line, part: int, now_ms: int) -> Spans:
        if isinstance(line, Heading):
            return self._heading(line, now_ms)
        indent = _INDENT * line.depth
        room = max(self.width - len(indent), 1)
        if isinstance(line, FoldLine):
            mark = "▾" if line.is_open else "▸"
            style = "heading" if is_heading(line) else "muted"
            return [(cut(SafeText(f"{indent}{mark} {words.foreign(line.words)}"), self.width), style)]
        is_dated = self.has_days and not line.depth
        if not self.is_wide:
            if part:
                return [(SafeText(indent), ""), *cells.lower_row(line.row, room, now_ms)]
            return [(SafeText(indent), ""), *cells.upper_row(line.row, room, now_ms, is_dated=is_dated)]
        return cells.joined(line.row, self._cells_of(line, now_ms), now_ms, is_dated=is_dated)

    def _cells_of(self, line: RowLine, now_ms: int) -> Sequence[Spans]:
        """Return the columns of a row. While the row stays, only those with a clock are made again."""
        row, shown, depth = line.row, self._fitting(), line.depth
        kept = self._kept.get(row.key)
        known: Sequence[Spans] = ()
        if kept is not None and kept.row is row and kept.columns is shown and kept.depth == depth:
            known = kept.cells
        if len(self._kept) > _MOST_DRAWN:
            self._kept.clear()
        found = cells.row_cells(row, shown, now_ms, depth, known)
        self._kept[row.key] = KeptCells(row, shown, depth, found)
        return found

    @property
    def names(self) -> list[str]:
        widths = self._fitting().widths
        return [name for name in cells.NAMES if name in widths]

    def heading(self) -> Spans:
        return cells.heading(self._fitting()) if self.is_wide else []

    def _fitting(self) -> Columns:
        if self._columns is None:
            self._columns = columns_for(self.width, self._needed, self.chosen)
        return self._columns

    def _heading(self, line: Heading, now_ms: int) -> Spans:
        if line.older:
            name = cut(SafeText(f"OLDER THAN {SHOWN_DAYS} DAYS"), self.width)
            of_all = f"the newest {line.count} of {line.older:,}" if line.count < line.older else line.older
            return [(name, "heading"), (SafeText(f"  {of_all}"), "muted")]
        day = "one-liners" if line.is_folds else ""
        if line.day_ms is not None and line.day_ms > DAY_MS:
            day = day_words(line.day_ms, now_ms)
        name = cut(SafeText(f"{line.group} {day}".rstrip().upper()), self.width)
        counts = [f"{line.count:,}"] if line.count or not line.others else []
        counts += [plural(line.others, "other")] if line.others else []
        words = SafeText(f"  {' · '.join(counts)}")
        return [(name, _HEADINGS.get(line.group, "heading")), (words, "muted")]


_URGENT = (Group.NEEDS_YOU, Group.FAILED)
_MOST_MEASURED = 500
_MOST_DRAWN = 1_000
_MOST_LINES = 16
"""The most rows that Textual is asked to draw one by one, at 60 us each; otherwise it draws all."""
_TICK_MS = 1_000
_OF_MARKED = ("removal", "export", "archive")
_OF_FOLDED = (*_OF_MARKED, "ring")


class Wanted(Message):
    """Posted by a key: what the user wants of the selected session, or of the marked ones. `what` is the word
    that the bindings of `screen/keys.py` give the action `want`."""

    def __init__(self, what: str, rows: Sequence[Row]) -> None:
        super().__init__()
        self.what, self.rows = what, rows


class Opened(Message):
    """Posted by enter and by a double click, to open the session and search it for `words`."""

    def __init__(self, row: Row, words: str = "") -> None:
        super().__init__()
        self.row, self.words = row, words


class DemoWanted(Message):
    """Posted by enter on a machine without sessions: the bundled session is to be replayed."""


class Chosen(Message):
    """Posted when another session is selected; `row` is None for another line."""

    def __init__(self, row: Row | None) -> None:
        super().__init__()
        self.row = row


class Marked(Message):
    """Posted when other sessions are marked."""


class Viewed(Message):
    """Posted when other sessions are in view."""


class SessionList(RowView, HeadedView):
    """The sessions of the machine, with a cursor that stays on its session. When sessions come and go above,
    the top of the list stays in view while the cursor is on the first line. Otherwise the selected session
    stays in its row of the screen, or the first row in view if the selected session is not in view."""

    COMPONENT_CLASSES = eager_classes(("line--asks", "line--working"))
    BINDINGS: ClassVar[list[BindingType]] = bindings("sessions")
    open_action = "open"
    has_columns = True

    def __init__(self) -> None:
        super().__init__("", id="sessions")
        self._listing = Listing()
        self._now_ms = 0
        self._rows = ScreenRows()
        self._content = LineContent()
        self._chosen: Line | None = None
        self._kept: object = None
        """The identity of the line that was selected before the user searched and filtered. It is selected
        again whenever the list has it, unless the user selects another one."""
        self._marked: set[Key] = set()
        self.in_view: frozenset[Key] = frozenset()
        self._heading_drawn: Line | None = None
        self._drawn: dict[int, DrawnRow] = {}
        self._is_settled = False
        self.offers_demo = False
        self._is_placed = False

    @property
    def chosen(self) -> Row | None:
        return self._chosen.row if isinstance(self._chosen, RowLine) else None

    @property
    def marked(self) -> list[Row]:
        return [row for key, row in self._listing.rows.items() if key in self._marked] if self._marked else []

    def _tell_view(self) -> None:
        rows, top = self._rows, self.scroll_offset.y
        bottom = min(top + self.scrollable_content_region.height, len(rows))
        lines = (rows.lines[rows.at(y)[0]] for y in range(top, bottom))
        viewed = frozenset(line.row.key for line in lines if isinstance(line, RowLine))
        if viewed != self.in_view:
            self.in_view = viewed
            self.post_message(Viewed())

    def show(self, listing: Listing, now_ms: int, nothing: SafeText, *, is_settled: bool = True) -> None:
        """Show the lines of a list; draw the rows in view that differ. Until all sessions are found and read
        (`is_settled`), the first line stays selected unless the user has moved: newer ones may come."""
        self._listing = listing
        if not 0 <= now_ms - self._now_ms < _TICK_MS:  # otherwise the clocks would move with each report
            self._now_ms = now_ms
        self._content.nothing, self._content.has_days = nothing, listing.sort is Sort.STATE
        self._settle()
        self._is_settled = self._is_settled or is_settled

    def keep_chosen(self, *, is_kept: bool) -> None:
        """Keep this line selected whenever it is in the list, until the user selects another one."""
        if not is_kept:
            self._kept = None
        elif self._kept is None and self._chosen is not None:
            self._kept = identity(self._chosen)

    def tick(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._draw_changes(is_tick=True)

    @property
    def rests_until_ms(self) -> int:
        """When the next clock in view moves; 0 without a row."""
        top = self.scroll_offset.y
        shown = map(self._drawn.get, range(top, top + self.scrollable_content_region.height))
        return min((each.times.stop for each in shown if each is not None), default=0)

    def line_count(self) -> int:
        return len(self._rows) or len(self._nothing_rows())

    def _nothing_rows(self) -> list[Spans]:
        return self._content.nothing_rows(self.scrollable_content_region.height)

    def heading(self, width: int) -> Spans:
        del width
        return self._content.heading() if self._rows.lines else []

    def draw(self, y: int, width: int) -> Strip:
        shown = self._drawn[y] = self._row_content(y)
        strip = self.strip_of(shown.spans)
        keys = self._keys_of(shown.line) if self._marked and shown.line is not None else ()
        mark = _MARK if keys and self._marked.issuperset(keys) else ""
        if shown.is_chosen:
            return chosen_row(strip, self, width, mark or CHOSEN_MARK)
        return LightStrip([*(mark_strip(self, "accent", mark) if mark else _NO_MARK), *strip])

    def render_lines(self, crop: Region) -> list[Strip]:
        strips = super().render_lines(crop)
        if (line := self._kept_heading()) is None:
            return strips
        row = self.styles.gutter.top - crop.y
        if 0 <= row < len(strips):
            strip = Strip.join([Strip.blank(1), self.strip_of(self._content.spans(line, 0, self._now_ms))])
            strips[row] = self.painter.framed(strip).crop(crop.x, crop.right)
        return strips

    def bring_into_view(self, row: int) -> None:
        """Scroll by as few lines as possible to make a row visible, below the heading that is kept."""
        if row <= self.scroll_offset.y and self._heading_at(row) is not None:
            self.settle_at(row - 1)
        else:
            super().bring_into_view(row)

    def _kept_heading(self) -> Line | None:
        top = self.scroll_offset.y
        return self._heading_at(top) if top else None

    def _heading_at(self, y: int) -> Line | None:
        rows = self._rows
        if y >= len(rows) or self.scrollable_content_region.height < _LEAST_FOR_HEADING:
            return None
        index = rows.heading_above(rows.at(y)[0])
        return None if index is None else rows.lines[index]

    def _keys_of(self, line: Line) -> tuple[Key, ...]:
        """Return the sessions of a line, without the subagents in a fold."""
        if isinstance(line, RowLine):
            return (line.row.key,)
        rows = self._listing.rows
        keys = line.keys if isinstance(line, FoldLine) else ()
        return tuple(key for key in keys if key in rows and rows[key].parent is None)

    def choose(self, row: int) -> None:
        rows = self._rows
        if not rows.lines:
            return
        step = 1 if row > self.cursor else -1
        at, part = rows.at(max(0, min(row, len(rows) - 1)))
        if part and row == self.cursor + 1:  # the second row of the selected session
            at = min(at + 1, len(rows.lines) - 1)
        index = rows.selectable(at, step)
        index = rows.selectable(at, -step) if index is None else index
        if index is not None:
            self._select(index)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._is_placed = self._is_placed or (not self._is_settling and round(new_value) > 0)
        self._tell_view()

    def on_resize(self) -> None:
        self._content.fit(self.scrollable_content_region.width - 1)
        self._drawn.clear()
        self._settle()
        super().on_resize()
        self.set_class(not self._content.is_wide, "-two-rows")
        if self._is_placed and self._chosen is not None:
            kept = self._kept
            self._select(self._rows.at(self.cursor)[0])
            self._kept = kept

    async def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # the method of the base class would be called too
        place = event.get_content_offset(self)
        if place is None or (y := place.y + self.scroll_offset.y) >= len(self._rows):
            return
        if place.y == 0 and self._kept_heading() is not None:
            return
        index, _ = self._rows.at(y)
        if self._rows.is_selectable(index):
            self._select(index)
            if event.chain > 1:
                self.action_open()

    def action_open(self) -> None:
        if isinstance(self._chosen, FoldLine):
            self.action_fold(opens=not self._chosen.is_open)
        elif self.chosen is not None:
            self.post_message(Opened(self.chosen))
        elif self.offers_demo:
            self.post_message(DemoWanted())

    def action_fold(self, opens: bool) -> None:
        line = self._chosen
        if isinstance(line, FoldLine | RowLine) and line.is_open != opens:
            self._listing.toggle(line)
            self._settle()

    def action_want(self, what: str) -> None:
        """Post an action for the selected or marked sessions, or those of a fold, which space opens."""
        rows = self._chosen_rows
        if what in _OF_MARKED:
            rows = self.marked or rows
        if self.chosen is None and what == "preview":
            self.action_open()
        elif rows and (self.chosen is not None or what in _OF_FOLDED):
            self.post_message(Wanted(what, rows))
        else:
            self._refuse()

    @property
    def _chosen_rows(self) -> list[Row]:
        if isinstance(self._chosen, FoldLine):
            return [self._listing.rows[key] for key in self._keys_of(self._chosen)]
        return [] if self.chosen is None else [self.chosen]

    def _refuse(self) -> None:
        """Notify the user why a key that acts on one session does nothing."""
        folded = plural(len(self._chosen_rows), "session")
        words = "no session is selected"
        if self._chosen is not None:
            words = f"{folded} in this line: open it, and select one"
        self.notify(words, markup=False)

    @property
    def unfit(self) -> frozenset[str]:
        """Return the bindings in the line of keys that cannot act on the selected line."""
        row, rows = self.chosen, self._chosen_rows
        fits = {
            "open-session": row is None or row.can_open,
            "preview": row is not None,
            "why": row is not None,
            "go-to-terminal": row is not None and not row.host and pane_of(row.tmux) is not None,
            "ring": not all(map(why_silent, rows)),
            "archive-session": not all(each.host for each in rows),
            "export": any(each.can_open for each in rows),
        }
        return frozenset(name for name, does in fits.items() if not does)

    def action_mark(self) -> None:
        """Mark the selected session, or all of a fold, and select the next one; or remove their marks."""
        keys = () if self._chosen is None else self._keys_of(self._chosen)
        if keys:
            (self._marked.difference_update if self._marked.issuperset(keys) else self._marked.update)(keys)
            self._show_marks()
            self.action_move(1)

    def unmark(self) -> None:
        if self._marked:
            self._marked.clear()
            self._show_marks()

    @property
    def columns(self) -> list[str]:
        return self._content.names

    def show_columns(self, names: Sequence[str]) -> None:
        self._content.choose(names)
        self._measure(self._rows.lines)
        self._drawn.clear()
        self.refresh()

    def _measure(self, lines: Sequence[Line]) -> None:
        measured = [line.row for line in lines[:_MOST_MEASURED] if isinstance(line, RowLine)]
        self._content.measure(measured, self._now_ms)

    def action_urgent(self, step: int) -> None:
        """Select the next (1) or previous (-1) session that needs the user or failed."""
        lines = self._rows.lines
        urgent = [
            index
            for index, line in enumerate(lines)
            if isinstance(line, RowLine) and line.row.group in _URGENT
        ]
        if not urgent:
            self.notify("no session needs you", markup=False)
            return
        at = self._rows.at(self.cursor)[0]
        later = [index for index in urgent[::step] if (index - at) * step > 0]
        self._select((later or urgent[::step])[0])

    def action_copy(self) -> None:
        if self.chosen is None:
            self._refuse()
            return
        name = foreign(self.chosen.address or self.chosen.id)
        self.app.copy_to_clipboard(name)
        self.notify(f"copied {name}", markup=False)

    def _show_marks(self) -> None:
        self.painter.refresh()
        self.post_message(Marked())

    def _settle(self) -> None:
        """Take the lines of the list; put the cursor on its session, and that into its row of the screen."""
        rows, lines, top = self._rows, self._listing.lines, self.scroll_offset.y
        before = rows.at(max(self.cursor, 0))[0]
        held, distance = None, 0
        is_same_layout = rows.is_wide is self._content.is_wide
        if self._is_placed and rows.lines and (top > 0 or is_same_layout):
            is_in_view = top <= self.cursor < top + self.scrollable_content_region.height
            at = before if is_in_view else rows.at(min(top, len(rows) - 1))[0]
            held, distance = identity(rows.lines[at]), rows.top(at) - top
        chosen = None if self._chosen is None else identity(self._chosen)
        self._measure(lines)
        rows.put(lines, is_wide=self._content.is_wide)
        is_first = not (self._is_placed or self._is_settled)
        index = rows.selectable(0, 1) if is_first else rows.find(self._kept, before)
        index = rows.find(chosen, before) if index is None else index
        index = rows.nearest(before) if index is None else index
        self._chosen = None if index is None else lines[index]
        self.set_reactive(SessionList.cursor, -1 if index is None else rows.top(index))
        self.show_lines(redraw=False)
        at_held = rows.find(held, before)
        wanted_top = top if at_held is None else rows.top(at_held) - distance
        self.settle_at(max(0, min(wanted_top, self.max_scroll_y)))
        self._draw_changes()
        self._tell_view()
        if self._chosen is None or identity(self._chosen) != chosen:
            self.post_message(Chosen(self.chosen))

    def _select(self, index: int) -> None:
        rows, before = self._rows, self._chosen
        self._chosen, self._kept = rows.lines[index], None
        self._is_placed = index != rows.selectable(0, 1)
        self.cursor = rows.top(index)
        self._draw_changes()
        has_heading = index > 0 and not rows.is_selectable(index - 1)
        self.bring_into_view(rows.rows(index)[-1])
        self.bring_into_view(rows.top(index - has_heading) if self._is_placed else 0)
        if before is None or identity(before) != identity(self._chosen):
            self.post_message(Chosen(self.chosen))

    def _row_content(self, y: int) -> DrawnRow:
        content, rows = self._content, self._rows
        if not rows.lines:
            return DrawnRow(None, 0, range(0), False, content.layout, self._nothing_rows()[y])
        index, part = rows.at(y)
        line, now_ms = rows.lines[index], self._now_ms
        is_chosen, layout = rows.top(index) == self.cursor, content.layout
        before = self._drawn.get(y)
        if (
            before is not None
            and now_ms in before.times
            and (before.line, before.part, before.layout) == (line, part, layout)
        ):
            is_same = before.is_chosen is is_chosen  # an equal line may be kept
            return before if is_same else before._replace(is_chosen=is_chosen)
        return DrawnRow(
            line, part, times_of(line, now_ms), is_chosen, layout, content.spans(line, part, now_ms)
        )

    def _draw_changes(self, *, is_tick: bool = False) -> None:
        top, count = self.scroll_offset.y, self.line_count()
        if (heading := self._kept_heading()) != self._heading_drawn:
            self._heading_drawn = heading
            self.refresh_line(top)
        if len(self._drawn) > _MOST_DRAWN:
            self._drawn.clear()
        changed = []
        rows, now_ms, cursor, layout = self._rows, self._now_ms, self.cursor, self._content.layout
        for y in range(top, top + self.scrollable_content_region.height):
            before = self._drawn.get(y)
            if before is not None and now_ms in before.times:
                is_same = rows.is_wide and y < len(rows) and before.line is rows.lines[y]
                if is_tick or (is_same and (before.is_chosen, before.layout) == (y == cursor, layout)):
                    continue
            if y < count:
                shown = self._drawn[y] = self._row_content(y)
                if before is None or (shown.spans, shown.is_chosen) != (before.spans, before.is_chosen):
                    changed.append(y)
            elif before is not None:
                del self._drawn[y]
                changed.append(y)
        if len(changed) > _MOST_LINES:
            self.painter.refresh()
            return
        for y in changed:
            self.refresh_line(y)
