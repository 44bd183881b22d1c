"""The calls pane and its filter bar: how a row is drawn, which row is selected, which calls are shown."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.status import NO_WAITS, Wait, Waits
from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.calls.list import CallList, Row, Scales
from agentwatch.screen.widgets.input_bar import RuleBar
from agentwatch.screen.widgets.line_view import HeadedView, LineView, PaneWanted, Spans, rows_in_view
from agentwatch.session.actions import action, shown_note, shown_target, shown_tool
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text import UNKNOWN
from agentwatch.text.amounts import line_counts
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, fitted, fitting, safe_line
from agentwatch.text.signs import ASKS_SIGN, MINUS, SIGNS

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict
    from agentwatch.rules.language.completion import Offer
    from agentwatch.rules.language.errors import RuleError


# The result and the target of a row.

MOST_SUMMED_UP = 200
"""Rows that fold more calls than this show no totals: summing them on each draw would cost O(calls)."""
_MOST_COLUMNS = 16
"""The width that a long note may take from the target."""
_LEAST_COLUMNS = 5
"""Minimum width of a note; below it, the target gets the whole width."""
_WORD = 9
"""Notes of at most this width (`rejected`) are shown whole or not at all."""
_LEAST_TARGET = 14
_LEAST_WITH_SOURCE = 40
"""Columns of the target beside which a verdict is shown with its source, if the target needs fewer."""
_LEAST_FOR_WIDE_GAP = 26
"""Columns of target and result below which every column is needed for text."""
_NEAR_A_WORD = 8
"""Minimum target width beside the note of a call that did not succeed."""


def gap(room: int) -> int:
    """Return the blanks between a target and its result, which share `room` columns: 2, or 1 if narrow."""
    return 2 if room >= _LEAST_FOR_WIDE_GAP else 1


def short_note(call: Call) -> SafeText:
    if call.outcome is Outcome.FAILED and call.exit_code:
        return SafeText(f"exit {call.exit_code}")
    note = shown_note(call)
    return SafeText(note.removeprefix("failed: "))  # the sign of the row says that it failed


def note_of(calls: Sequence[Call]) -> SafeText:
    call = calls[-1]
    if len(calls) == 1:
        return short_note(call)
    if len({each.note for each in islice(calls, MOST_SUMMED_UP)}) > 1 or len(calls) > MOST_SUMMED_UP:
        return SafeText("")
    if call.lines_added is None and call.lines_removed is None:
        return short_note(call)
    added = sum(each.lines_added or 0 for each in calls)
    removed = sum(each.lines_removed or 0 for each in calls)
    return SafeText(line_counts(added, removed, MINUS))


def fitting_note(note: SafeText, name_width: int, room: int, *, is_urgent: bool) -> SafeText:
    """Return as much of a note as fits beside a target of `name_width` in `room` columns; empty if the target
    needs the room, unless the note matters more (`is_urgent`)."""
    if columns(note) <= _WORD:
        least = _NEAR_A_WORD if is_urgent else max(_LEAST_TARGET, room - _MOST_COLUMNS)
        return note if room - columns(note) - gap(room) >= min(name_width, least) else SafeText("")
    left = room - min(name_width, max(_LEAST_TARGET, room - _MOST_COLUMNS)) - gap(room)
    return cut(note, min(columns(note), left)) if left >= _LEAST_COLUMNS - 1 else SafeText("")


def fitting_verdict(verdict: Verdict, name_width: int, room: int) -> SafeText:
    """Return a verdict in the longest form that fits beside the target; empty if none does. The longest form
    has the source, and is shown only beside a whole target: `✗ 1 failed, 4 passed (pattern)`."""
    whole = SafeText(_lead(verdict) + verdict.words_and_source)
    if room - columns(whole) - gap(room) >= max(name_width, _LEAST_WITH_SOURCE):
        return whole
    for words in _shorter_forms(verdict):
        if room - columns(words) - gap(room) >= min(name_width, _LEAST_TARGET):
            return words
    return SafeText("")


def fitting_result(
    calls: Sequence[Call], verdict: Verdict | None, name_width: int, room: int, *, is_fold: bool = False
) -> tuple[SafeText, str]:
    """Return as much of the result of a row as fits beside its target, and the name of its style."""
    call = calls[-1]
    if verdict is not None and (words := fitting_verdict(verdict, name_width, room)):
        style = "failed" if verdict.is_red else "succeeded" if verdict.is_green else "unfinished"
        return words, style
    is_urgent = call.outcome is not Outcome.SUCCEEDED and not is_fold
    style = "muted" if call.outcome is Outcome.SUCCEEDED else str(call.outcome)
    return fitting_note(note_of(calls), name_width, room, is_urgent=is_urgent), style


def _lead(verdict: Verdict) -> str:
    sign = SIGNS[Outcome.FAILED if verdict.is_red else Outcome.SUCCEEDED]
    return f"{sign} " if verdict.is_red or verdict.is_green else ""


def _shorter_forms(verdict: Verdict) -> Iterator[SafeText]:
    words = verdict.words
    while words:
        yield SafeText(_lead(verdict) + words)
        words = words.rpartition(", ")[0]


# The target of a call as the table shows it: without what is known already, and cut where rows are alike.

_LEAST_SHARED = 8
"""A shorter common beginning is not cut out: the cut would save too little."""
_ADDRESS = re.compile(r"\A[a-z]{1,20}+://\S{1,2000}+$")


def fitting_target(call: Call, width: int, near: Callable[[], Sequence[SafeText]]) -> SafeText:
    """Return the target of a call in `width` columns; a cut target differs from those that `near` returns."""
    shown = shown_target(call)
    if columns(shown) <= width:
        return shown
    if call.more_paths:
        shown = SafeText(", ".join(path.rpartition("/")[2] for path in shown.split(", ")))
    is_path = (call.path is not None or _ADDRESS.match(shown) is not None) and not call.more_paths
    return cut_apart(shown, near(), width, is_path=is_path)


def cut_apart(text: SafeText, near: Sequence[SafeText], width: int, *, is_path: bool) -> SafeText:
    """Return a target in at most `width` columns, cut so that it differs from the targets near it. A path
    loses folders from its middle, other targets lose their end. If the cut hides what differs, what the
    target shares with a near one is cut out instead: `pytest tests/unit/test_a.py` near `pytest
    tests/unit/test_b.py` is `pytest …test_a.py`. A command always begins with its program."""
    if columns(text) <= width:
        return text
    others = [other for other in near if other != text]
    if is_path:
        plain = cut_middle(text, width)
        twins = [other for other in others if cut_middle(other, width) == plain]
        return _cut_folders(text, twins[0], width) if twins else plain
    shared = max((_shared(text, other) for other in others), default=0)
    begin = max(text.rfind(" ", 0, shared), text.rfind("/", 0, shared)) + 1
    end = text.find(" ", shared)
    differing = text if end < 0 else SafeText(text[:end])
    if begin < _LEAST_SHARED or columns(differing) < width or width < _LEAST_SHARED:
        return cut(text, width)
    rest, program = SafeText(text[begin:]), SafeText(text[: text.find(" ") + 1])
    room = max(width - 1 - columns(rest), columns(program))
    head = text[: fitting(text, 0, room)]
    head = head[: max(head.rfind(" "), head.rfind("/")) + 1]
    left = width - 1 - columns(SafeText(head))
    if not program or len(head) >= begin or left < _LEAST_SHARED:
        return cut(text, width)
    return SafeText(f"{head}…{cut(rest, left)}")


def _shared(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _cut_folders(path: SafeText, other: SafeText, width: int) -> SafeText:
    """Return a path that shows its first folder that is not in another path."""
    parts, others = path.split("/"), other.split("/")
    pairs = zip(parts, others, strict=False)
    first = next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(parts), len(others)) - 1)
    whole = "/".join(parts[first:])
    short = f"{parts[first]}/…/{parts[-1]}" if first < len(parts) - 2 else whole
    lead = "…/" if first else ""
    for shown in (whole, short):
        if columns(SafeText(lead + shown)) <= width:
            return SafeText(lead + shown)
    return cut(SafeText(lead + short), width)


# The test verdicts of the calls that are drawn, read from the recording when they are needed.

_READ_SECONDS = 0.004
_MOST_KEPT = 4096
_MOST_WANTED = 256


class VerdictCache:
    """Returns the verdicts that are known, and reads those that a frame wanted after it, for 4 ms at a time:
    that of a call takes 0.1 ms, of a line of 1 MiB 4 ms. `redraw` is called when new ones are known."""

    def __init__(self, feed: Feed, widget: Widget, redraw: Callable[[], object]) -> None:
        self._feed = feed
        self._widget = widget
        self._redraw = redraw
        self._known: dict[int, Verdict | None] = {}
        """The verdicts that are known, by the number of the call; None for a call without one."""
        self._wanted: dict[int, Call] = {}
        self._is_reading = False

    def get(self, call: Call) -> Verdict | None:
        """Return the verdict on a call; None without a verdict, and while it is unknown."""
        if call.kind is not ToolKind.EXECUTE or call.ended is None:
            return None
        if call.number not in self._known:
            self._want(call)
            return None
        return self._known[call.number]

    def read(self) -> None:
        from agentwatch.analysis.verdict_history import call_verdict

        until = perf_counter() + _READ_SECONDS
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


# A row of the pane.

_CLOCK = 8
_LEAST_FOR_CLOCK = 30
_LEAST_TOOL = 4
"""The width of the heading `tool`."""
_UNKNOWN_DIGITS = 4
"""The width that is left free for the numbers of a large recording, until it is loaded."""
_LEAST_FOR_STRIP = 56
_STRIP = (8, 20)
_NEIGHBOURS = 2
"""The number of rows above and below from which a cut target has to differ."""


class Layout(NamedTuple):
    """The widths of the columns; 0 for a column that is not shown."""

    number: int
    tool: int
    name: int
    """Target and result share these columns."""
    clock: int
    strip: int


class CallRenderer:
    def __init__(
        self, pane: LineView, listed: CallList, verdicts: VerdictCache, *, has_numbers: bool
    ) -> None:
        self._pane = pane
        self._has_numbers = has_numbers
        self._list = listed
        self._verdicts = verdicts
        self._scales: Scales = {}
        self._scaled: tuple[object, ...] = ()
        self.waits: Waits = NO_WAITS

    def show(self, listed: CallList) -> None:
        self._list = listed

    def render(self, y: int, width: int, now_ms: int | None) -> Strip:
        """Return a row; it is exactly `width` columns wide unless the pane is very narrow."""
        row = self._list.rows[y]
        calls = self._list.calls_of(row)
        call = calls[-1]
        layout = self.layout(width)
        wait = self.waits.get(call.number)
        state = str(call.outcome) if wait is None else "asks"
        style = "plain" if call.outcome is Outcome.SUCCEEDED else state
        clock = f"{_clock(row, calls, wait, now_ms):>{_CLOCK}}" if layout.clock else ""
        if row.is_fold and not row.is_same:
            name, result, result_style = _names(row, calls, layout.name), SafeText(""), ""
        else:
            name, result, result_style = self._target_and_result(y, row, calls, layout.name)
        name = fitted(name, layout.name - (columns(result) + gap(layout.name) if result else 0))
        number = f"{call.number if self._has_numbers else '':>{layout.number - 1}} "
        spans = [
            (SafeText(self._list.rows.group_mark(y)), "muted"),
            (SafeText(number), "muted"),
            (SafeText(f"{SIGNS[call.outcome] if wait is None else ASKS_SIGN} "), state),
            (fitted(shown_tool(call.tool), layout.tool), "muted"),
            (SafeText(f" {name}"), style),
            (SafeText(f"{' ' * gap(layout.name)}{result}" if result else ""), result_style),
            (SafeText(clock), "muted"),
        ]
        if layout.strip:
            shown = calls if len(calls) <= MOST_SUMMED_UP else (calls[0], calls[-1])
            bar = self._list.strip.bar(shown, layout.strip, self.scales(now_ms), now_ms)
            spans.append((SafeText(f" {bar}"), "muted" if style == "plain" else style))
        return self._pane.strip_of(spans)

    def heading(self, width: int, now_ms: int | None) -> Spans:
        """Return the heading of the columns; that of the time strip is the duration that it covers."""
        layout = self.layout(width)
        number = f"{'#':>{layout.number - 1}} "
        name = fitted(SafeText(f"target{'result':>{max(layout.name - 6, 7)}}"), layout.name)
        strip = ""
        if layout.strip:
            scales = [*self.scales(now_ms).values()]
            covered = f" {duration_words(scales[0][1])}" if len(scales) == 1 else ""
            strip = f" {cut(SafeText(f'▏{covered}'), layout.strip)}"
        clock = f"{'time':>{_CLOCK}}" if layout.clock else ""
        words = f" {number}  {fitted(SafeText('tool'), layout.tool)} {name}{clock}{strip}"
        return [(SafeText(words), "muted")]

    def layout(self, width: int) -> Layout:
        digits = len(str(self._list.count)) if self._has_numbers else _UNKNOWN_DIGITS
        number, clock = digits + 1, _CLOCK if width >= _LEAST_FOR_CLOCK else 0
        strip = 0 if width < _LEAST_FOR_STRIP else min(max(width // 7, _STRIP[0]), _STRIP[1])
        tool = min(max(self._list.tool_width, _LEAST_TOOL), max(width // 4 - 1, 1))
        name = max(width - 1 - number - 2 - tool - 1 - clock - (strip and strip + 1), 1)
        return Layout(number, tool, name, clock, strip)

    def scales(self, now_ms: int | None) -> Scales:
        rows, view = self._list.rows, rows_in_view(self._pane)
        basis = (id(rows), len(rows), self._list.revision, view, now_ms)
        if basis != self._scaled:
            self._scaled = basis
            self._scales = self._list.strip.scales(self._calls_in_view(), now_ms)
        return self._scales

    def _calls_in_view(self) -> Iterator[Call]:
        for y in rows_in_view(self._pane):
            calls = self._list.calls_of(self._list.rows[y])
            yield from islice(calls, MOST_SUMMED_UP)
            yield calls[-1]

    def _target_and_result(
        self, y: int, row: Row, calls: Sequence[Call], room: int
    ) -> tuple[SafeText, SafeText, str]:
        """Return the target of a row, its result and the style of that, which fit in `room` columns together.
        The result is empty if the target needs the room, and in the place of a target that is empty."""
        call = calls[-1]
        lead = ("▾ " if row.is_open else "▸ ") if row.is_fold else "  " if row.fold >= 0 else ""
        lead += _branch(call)
        end = f" ×{len(calls):,}" if row.is_fold else ""
        shown, extra = shown_target(call), len(lead) + len(end)
        result, style, name_width = SafeText(""), "", columns(shown) + extra
        if call.number in self.waits and not row.is_open:
            result, style = fitting_note(SafeText("asks"), name_width, room, is_urgent=True), "asks"
        elif not row.is_open:
            result, style = fitting_result(
                calls, self._verdicts.get(call), name_width, room, is_fold=row.is_fold
            )
        if not (shown or extra) and call.outcome is Outcome.SUCCEEDED:
            return result, SafeText(""), ""
        width = max(room - (columns(result) + gap(room) if result else 0) - extra, 1)
        shown = fitting_target(call, width, lambda: self._targets_near(y, call))
        return SafeText(f"{lead}{shown}{end}"), result, style

    def _targets_near(self, y: int, call: Call) -> list[SafeText]:
        first, last = max(y - _NEIGHBOURS, 0), min(y + _NEIGHBOURS, len(self._list.rows) - 1)
        near = [self._list.call_at(each) for each in range(first, last + 1) if each != y]
        return [shown_target(other) for other in near if other.tool == call.tool]


def _names(row: Row, calls: Sequence[Call], width: int) -> SafeText:
    names = dict.fromkeys((each.target or "").rpartition("/")[2] for each in islice(calls, MOST_SUMMED_UP))
    files = {each.target for each in islice(calls, MOST_SUMMED_UP)}
    noun = "files" if len(files) == len(calls) else "reads"
    head = f"{'▾' if row.is_open else '▸'} {_branch(calls[-1])}{len(calls):,} {noun}: "
    return cut(safe_line(head + ", ".join(names)), width)


def _branch(call: Call) -> str:
    """Return the sign before the target of a subagent's call; empty for a call of the main agent."""
    return "" if call.parent is None else "└ "


def _clock(row: Row, calls: Sequence[Call], wait: Wait | None, now_ms: int | None) -> str:
    """Return a row's duration. For several calls it is the time in which any of them ran."""
    if wait is not None:
        return wait.clock(now_ms) or UNKNOWN
    if not row.is_fold:
        return call_clock(calls[-1], now_ms)
    if len(calls) > MOST_SUMMED_UP or any(call.duration_ms is None for call in calls):
        return UNKNOWN
    total = until = 0
    for begin, end in sorted((call.started_ms or 0, call.ended_ms or 0) for call in calls):
        total += max(end - max(begin, until), 0)
        until = max(until, end)
    return duration_words(total)


# The pane.

_TITLE = "2 Calls"
_SLICE_SECONDS = 0.008
_RANK_SECONDS = 0.2
"""The time for which calls are read at most when the user goes to a failure: 60,000 calls."""
_BETWEEN_SLICES = 0.001
"""Seconds between two slices, so that keys are handled in between."""


class CallTable(HeadedView):
    """The calls, filtered and folded. With `has_numbers`, their numbers in the whole recording are shown."""

    title = var(SafeText(_TITLE))

    class Chosen(Message):
        """Posted when another call is selected; it has the call, which may change before it arrives."""

    class Picked(Message):
        """Posted when a row is selected, also the same one again: every pane brings its call into view."""

        def __init__(self, call: Call) -> None:
            super().__init__()
            self.call = call

    BINDINGS: ClassVar[list[BindingType]] = bindings("calls")

    cursor = var(-1)
    pinned: reactive[Call | None] = reactive(None)
    """The failed call whose detail stays open."""

    def __init__(self, feed: Feed, *, has_numbers: bool = True) -> None:
        super().__init__(_TITLE, id="calls")
        facts = CallFacts(feed)
        self.newest = self.listed = CallList(feed.session, facts)
        self.verdicts = VerdictCache(feed, self, self.painter.refresh)
        self._renderer = CallRenderer(self, self.listed, self.verdicts, has_numbers=has_numbers)
        self._scales: Scales = {}
        self._is_on_open_fold = False
        self._call_before: int | None = None
        """The number of the call that was selected before the calls were filtered. It is selected again while
        it matches, and when the filter is cleared, unless the user selects another call."""
        self._put: int | None = None
        """The number of the call that was selected when the filter last changed."""
        self._kept: int | None = None
        """The number of the call that was selected at the live moment; None if the newest was followed."""
        self._absent = 0
        """The number of the selected call while it does not exist at the moment that is shown."""
        self.now_ms: int | None = None
        self.chosen: Call | None = None

    def line_count(self) -> int:
        return len(self.listed.rows)

    def show(self, session: Session) -> None:
        newest, shown = self.newest, self.listed
        is_newest = newest.shows(session)
        if shown is newest and not is_newest:
            self._kept = self.chosen.number if self.chosen is not None and not self.following else None
        if newest is not shown and (shown.requested_filter, shown.is_by_duration) != newest.requested:
            newest.request(shown.requested_filter, by_duration=shown.is_by_duration)
            newest.build(None)
        if is_newest:
            newest.sync()
        self.listed = newest if is_newest else newest.at(session)
        self._renderer.show(self.listed)
        number = self._absent or (0 if self.chosen is None else self.chosen.number)
        self._absent = number if number > self.listed.count and not self.following else 0
        self.chosen = self.listed.call(min(number, self.listed.count))
        if not self.listed.rows:
            self.cursor = -1
        self._settle()

    def follow_moment(self) -> None:
        """Follow the end; at the live moment, select again what was selected when it was left."""
        number, listed = self._kept, self.listed
        if listed is not self.newest or number is None or listed.rows.row_of(number - 1) is None:
            self.action_bottom()
            return
        self.following, self._absent = False, 0
        self._settle(listed.rows.row_of(number - 1, is_whole=self._is_on_open_fold))
        self.bring_into_view(self.cursor)

    def sync(self, now_ms: int | None) -> None:
        self.now_ms = now_ms
        top, rows = self.scroll_offset.y, self.listed.rows
        anchor = rows[top] if 0 < top < len(rows) and not self.following else None
        later = self.listed.call(self._absent)
        if later is not None:
            self.chosen, self._absent = later, 0
        if self.listed.sync() or later or (self.chosen is None and rows):  # `take` leaves nothing new
            self._settle(is_growth=True)
            row = None if anchor is None else rows.row_of(anchor.first, is_whole=anchor.is_open)
            if row is not None and row != top:
                self.settle_at(row)

    def tick(self, now_ms: int | None) -> None:
        self.now_ms = now_ms
        running = [row for row in rows_in_view(self) if self.listed.call_at(row).outcome is Outcome.RUNNING]
        for row in running:
            self.refresh_line(row)
        if running and (scales := self._renderer.scales(now_ms)) != self._scales:
            self._scales = scales
            self.refresh()

    def show_waits(self, waits: Waits) -> None:
        self._renderer.waits = waits
        self.refresh()

    def heading(self, width: int) -> Spans:
        return self._renderer.heading(width, self.now_ms)

    def is_pinned(self, y: int) -> bool:
        row, pinned = self.listed.rows[y], self.pinned
        return pinned is not None and row.first < pinned.number <= row.last + 1

    def draw_row(self, y: int, width: int) -> Strip:
        return self._renderer.render(y, width, self.now_ms)

    def copied(self) -> tuple[SafeText, SafeText]:
        if self.chosen is None:
            return SafeText(""), SafeText("")
        return SafeText(f"#{self.chosen.number}"), action(self.chosen)

    def choose(self, row: int) -> None:
        """Move the cursor to a row; selecting the newest call starts following."""
        count = self.line_count()
        if not count:
            return
        row = max(0, min(row, count - 1))
        self.following = row == count - 1 and not self.listed.is_by_duration
        self._absent = 0
        before, are_rows_new = self.cursor, count != self._count
        self._settle(row, redraw=are_rows_new)
        if not are_rows_new:
            self.refresh_line(before)
            self.refresh_line(row)
        self.bring_into_view(row)
        if self.chosen is not None:
            self.post_message(self.Picked(self.chosen))

    def choose_call(self, call: Call) -> None:
        """Select a call; if the filter or a fold hides it, remove the filter or open the fold."""
        rows, index = self.listed.rows, call.number - 1
        if rows.row_of(index) is None:
            self.listed.request("", by_duration=self.listed.is_by_duration)
            self.listed.build(None)
            rows = self.listed.rows
        row = rows.row_of(index)
        if row is not None and rows.toggle(row):
            row = rows.row_of(index)
        if row is not None:
            self._settle()
            self.choose(row)

    def choose_beside(self, step: int) -> None:
        """Select the call in the next (1) or previous (-1) row; a fold opens, so that no call is skipped."""
        rows, row = self.listed.rows, self.cursor + step
        while 0 <= row < len(rows):
            fold = rows[row]
            if fold.is_fold and not fold.is_open:
                rows.toggle(row)
                row += 1 if step > 0 else fold.last - fold.first + 1
            elif fold.is_open:
                row += step
                continue
            self._settle()
            self.choose(row)
            return

    def choose_failure(self, step: int) -> SafeText:
        """Select the next (1) or previous (-1) failure in time, wrapping around the ends. If the newest call
        is followed, or the selected call comes after all failures, this is the newest failure. Return its
        position: `failure 2 of 12 · fixed by #31`."""
        calls = self.listed
        ranked = {each.number: each for each in calls.ranked_failures(_RANK_SECONDS)}
        among = " shown" if calls.requested_filter else ""
        if not ranked:
            return SafeText(f"no failure{among}")
        numbers = sorted(ranked)
        at = last = len(numbers) - 1
        if self.chosen is not None and not self.following:
            chosen = self.chosen.number
            at = bisect_right(numbers, chosen) if step > 0 else bisect_left(numbers, chosen) - 1
            at = at % len(numbers) if chosen in ranked else max(0, min(at, last))
        number = numbers[at]
        row = calls.rows.row_of(number - 1)
        if row is not None and calls.rows[row].last == number - 1:
            self.choose(row)  # the last call of a fold, which stays folded
        elif (call := calls.call(number)) is not None:
            self.choose_call(call)
        self.following = False  # even on the last row: the failure stays selected
        failed = set(calls.failures())
        name = f"#{number}"
        if number in failed:
            name = f"failure {sum(each in failed for each in numbers[: at + 1]):,} of {len(failed):,}{among}"
        return SafeText(f"{name} · {ranked[number].words}")

    def at_end(self) -> bool:
        """Return whether the last row is visible and selected; by duration, always False."""
        is_last = self.cursor == self.line_count() - 1
        return super().at_end() and is_last and not self.listed.is_by_duration

    async def action_open(self) -> None:
        if 0 <= self.cursor < self.line_count() and self.listed.rows.toggle(self.cursor):
            self.choose(self.cursor)
        else:
            self.post_message(PaneWanted("detail"))

    def action_slowest(self) -> None:
        self.listed.request(by_duration=not self.listed.is_by_duration)
        self._build_rows()

    def filter_by(self, words: str) -> RuleError | None:
        """Show only the calls that match `words`, up to the first mistake in them, which is returned."""
        if words and not self.listed.requested_filter:
            self._call_before = None if self.following or self.chosen is None else self.chosen.number
            self._put = self._call_before
        problem = self.listed.request(words)
        self._build_rows()
        return problem

    def _build_rows(self) -> None:
        was_by_duration = self.listed.is_by_duration
        if not self.listed.build(_SLICE_SECONDS):
            if self.listed.is_waiting:
                self.set_timer(_BETWEEN_SLICES, self._build_rows)
            return
        self._choose_again()
        if self.listed.is_by_duration and not was_by_duration:
            self.following = False
            self._settle()
            self.choose(0)
        else:
            self._settle()
            if not self.following:
                self.choose(self.cursor)
                self.following = False  # even on the last row, because the user had stopped following
        self._put = None if self.chosen is None else self.chosen.number

    def _choose_again(self) -> None:
        before, chosen = self._call_before, self.chosen
        if before is not None and chosen is not None and chosen.number == self._put:
            is_shown = not self.listed.filter or self.listed.rows.row_of(before - 1) is not None
            self.chosen = (self.listed.call(before) if is_shown else None) or chosen
        if not self.listed.filter:
            self._call_before = None

    def _settle(self, row: int | None = None, *, is_growth: bool = False, redraw: bool = True) -> None:
        """Put the cursor on a row, or on that of the selected call, and show the current rows."""
        rows, call, before = self.listed.rows, self.chosen, self.cursor
        if row is None and call is not None and not self.following:
            row = rows.row_of(call.number - 1, is_whole=self._is_on_open_fold)
            row = min(max(before, 0), len(rows) - 1) if row is None else row
        self.cursor = len(rows) - 1 if row is None else row
        if self.cursor >= 0:
            now = rows[self.cursor]
            self._is_on_open_fold = now.is_open
            if call is None or self.following or not now.first < call.number <= now.last + 1:
                self.chosen = self.listed.call_at(self.cursor)
        if self.chosen is not None and self.chosen is not call:
            self.post_message(self.Chosen())
        if not is_growth or self.listed.is_by_duration:
            self.count_when_unfollowed += len(rows) - self._count
        title = self.listed.title(_TITLE)
        if title != self.title:  # setting the title redraws the whole pane
            self.border_title = Content(title)
            self.title = title
        self.show_lines(redraw=redraw)
        if self.scroll_offset.y > self.max_scroll_y:
            self.settle_at(self.max_scroll_y)


# The filter bar.


class FilterBar(RuleBar):
    """Filters the calls while the user types; enter keeps the filter, esc clears it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("filter bar")

    def __init__(self, calls: CallTable) -> None:
        super().__init__(
            "Filter",
            "a word, failed, tool:edit, path:*.py, duration>50s, 09:00..09:10",
            self._next_words,
            id="filter",
        )
        self._calls = calls

    def open(self) -> None:
        self.show_text(self._calls.listed.requested_filter, takes_keys=True)
        self._explain(self._calls.listed.requested_filter)

    def resume(self, before: FilterBar) -> None:
        """Take over the filter and the text being typed from the preview's filter bar."""
        if words := before._calls.listed.requested_filter:
            self._calls.filter_by(words)
        if before.is_typed_in:
            self.call_after_refresh(self.open)

    def close(self) -> bool:
        """Hide the bar and keep the filter; return whether the bar was visible."""
        was_there = bool(self.display)
        self.display = False
        return was_there

    def clear(self) -> bool:
        """Hide the bar and show all calls; return whether there was a filter."""
        had_filter = bool(self._calls.listed.requested_filter)
        self._calls.filter_by("")
        self.close()
        return had_filter

    def action_drop(self) -> None:
        self.clear()
        self.post_message(PaneWanted("calls"))

    def _next_words(self, text: str) -> list[Offer]:
        from agentwatch.rules.calls.filter import filter_offers

        listed = self._calls.listed
        return filter_offers(text, listed.facts, listed.tools, listed.delegating)

    def _explain(self, words: str, problem: RuleError | None = None) -> None:
        self.explain(words, problem, SafeText("enter: keep · esc: clear"))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._explain(event.value, self._calls.filter_by(event.value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self._calls.filter_by(event.value)
        if problem is not None:
            self.complain(problem)
            return
        self.close()
        self.post_message(PaneWanted("calls"))
