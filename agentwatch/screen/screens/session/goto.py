"""Reads the moment that is typed in the goto box, and lists the marked moments."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from time import perf_counter
from typing import ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from agentwatch.analysis.markers import Marker, MarkerKind, Markers
from agentwatch.analysis.moments import ENDS, End, Named, Problem, offset_of, parse
from agentwatch.feed.feed import Timeline
from agentwatch.recording.bookmarks import Bookmark, Bookmarks
from agentwatch.screen.widgets.input_box import InputBox, LineInput
from agentwatch.screen.widgets.line_view import RowView, Spans
from agentwatch.session.actions import shown_target, shown_tool
from agentwatch.session.events import ToolKind
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from agentwatch.text.safe import SafeText, columns, cut, safe_line
from agentwatch.text.times import time_of_day

# The marked moments of a session in words: the user's bookmarks, and the moments that mark themselves.

_MOST_PROMPT = 200
_SIGN = SafeText("◈")


class Mark(NamedTuple):
    offset: int
    """The number of bytes of the recording before the moment."""
    time: SafeText
    """The recorded time of day; without times, the share of the recording before the moment."""
    sign: SafeText
    style: str
    words: SafeText
    bookmark: Bookmark | None = None

    def __str__(self) -> str:
        return " ".join(filter(None, (self.time, self.sign, self.words)))


class Marks:
    def __init__(self, session: Session, bookmarks: Bookmarks, markers: Markers, timeline: Timeline) -> None:
        self.session = session
        self.bookmarks = bookmarks
        self.markers = markers
        self.timeline = timeline

    def update(self, seconds: float) -> bool:
        """Read calls that have ended, for about this time; return whether more are left."""
        until = perf_counter() + seconds
        while is_more := self.markers.update():
            if perf_counter() >= until:
                break
        return is_more

    def toggle(self, offset: int) -> SafeText:
        is_set = self.bookmarks.toggle(offset, self.timeline.ms_at(offset))
        warning = safe_line(self.bookmarks.take_warning())
        if is_set:
            return SafeText(f"bookmark at {self.time(offset)} · {warning or 'press : to name it'}")
        return warning or SafeText("bookmark removed · m sets it again")

    def name(self, offset: int, name: str) -> SafeText:
        """Name the bookmark at a moment, or set one with this name; return what went wrong."""
        bookmarks, ms = self.bookmarks, self.timeline.ms_at(offset)
        if not bookmarks.rename(offset, name) and not bookmarks.toggle(offset, ms, name):
            return safe_line(bookmarks.take_warning()) or SafeText("no line of the recording ends there")
        return safe_line(bookmarks.take_warning())

    def of_bookmark(self, bookmark: Bookmark) -> Mark:
        """Return the mark of a bookmark, such as `◈ bookmark "before the rewrite"`."""
        words = bookmark_words(bookmark.name)
        return Mark(bookmark.offset, self.time(bookmark.offset), _SIGN, "accent", words, bookmark)

    def of_marker(self, marker: Marker) -> Mark:
        """Return the mark of a marker, such as `✗ #15 pytest -q` or `#17 edit tidepool/nearest.py`."""
        sign, style = _sign(marker)
        return Mark(marker.offset, self.time(marker.offset), sign, style, self.words(marker))

    def words(self, marker: Marker) -> SafeText:
        if marker.kind is MarkerKind.TURN:
            return self._prompt(marker.number)
        call = self.session.calls[marker.number - 1]
        tool = "" if call.kind is ToolKind.EXECUTE else f"{shown_tool(call.tool)} "
        words = f"#{marker.number} {tool}{shown_target(call)}".rstrip()
        return SafeText(f"{words} ({safe_line(marker.verdict.words)})" if marker.verdict else words)

    def _prompt(self, number: int) -> SafeText:
        entry = self.session.transcript[number]
        if entry.kind is not Kind.PROMPT:
            return SafeText("turn")
        text = entry.content.part(0, _MOST_PROMPT)
        return safe_line(text.strip().partition("\n")[0])

    def time(self, offset: int) -> SafeText:
        """Return the time of a moment, `14:03:07`, or `42 %` of a recording without times."""
        timeline = self.timeline
        if timeline.first_ms is None:
            return SafeText(f"{100 * min(offset, timeline.size) // max(timeline.size, 1)} %")
        ms = timeline.ms_at(offset)
        return SafeText(time_of_day(timeline.first_ms if ms is None else ms))


def _sign(marker: Marker) -> tuple[SafeText, str]:
    if marker.kind is MarkerKind.TURN:
        return SafeText("›"), "prompt"
    is_red = marker.kind is MarkerKind.FAILURE if marker.verdict is None else marker.verdict.is_red
    if is_red:
        return SafeText("✗"), "failed"
    return (SafeText(" "), "plain") if marker.verdict is None else (SafeText("✓"), "succeeded")


def bookmark_words(name: str) -> SafeText:
    """Return `bookmark "before the rewrite"`, or `bookmark` without a name."""
    return SafeText(f'bookmark "{safe_line(name)}"' if name else "bookmark")


# Finds the marked moments that match what was typed, for a few milliseconds at a time.

_AT_ONCE = 32
"""The number of markers that are read between two readings of the clock, which takes 0.3 ms."""


class MarkFilter:
    """The bookmarks and markers that match all words. A word matches a part of their text, or the start of
    their time. Each marker is put into words only while it is compared or shown: the words of 100,000 would
    take 20 MB. Markers with the indices `first` are compared before those from `start` on."""

    def __init__(self, marks: Marks, text: str, first: Sequence[int] = (), start: int = 0) -> None:
        self._marks = marks
        self.text = text
        self._words = text.casefold().split()
        self._found = array("I")
        """The indices of the markers that match."""
        self._first = first
        self._compared = 0
        """The number of `first` that were compared."""
        self._from = start
        """The index of the first marker that is neither compared nor in `first`."""
        self._revision = marks.markers.revision
        self._bookmarks: list[Bookmark] = []
        self.refresh_bookmarks()

    def __len__(self) -> int:
        return len(self._bookmarks) + (len(self._found) if self._words else len(self._marks.markers))

    def __getitem__(self, index: int) -> Mark:
        if index < len(self._bookmarks):
            return self._marks.of_bookmark(self._bookmarks[index])
        index -= len(self._bookmarks)
        return self._marks.of_marker(self._marks.markers[self._found[index] if self._words else index])

    def retyped(self, text: str) -> MarkFilter:
        is_narrower = self._words and text.startswith(self.text)
        if not is_narrower or self._revision != self._marks.markers.revision:
            return MarkFilter(self._marks, text)
        return MarkFilter(self._marks, text, (*self._found, *self._first[self._compared :]), self._from)

    @property
    def is_complete(self) -> bool:
        is_current = self._revision == self._marks.markers.revision
        return not self._words or (is_current and self._from >= len(self._marks.markers) and not self._left)

    def refresh_bookmarks(self) -> None:
        self._bookmarks = [
            each for each in self._marks.bookmarks if self._matches(bookmark_words(each.name), each.offset)
        ]

    def row_of_bookmark(self, offset: int) -> int | None:
        return next((at for at, each in enumerate(self._bookmarks) if each.offset == offset), None)

    def row_of(self, mark: Mark) -> int | None:
        """Return the present index of a mark, or of another one of the same kind at its moment."""
        if mark.bookmark is not None:
            return self.row_of_bookmark(mark.offset)
        markers = self._marks.markers
        row = index = markers.index_after(mark.offset - 1)
        if self._words:
            row = bisect_left(self._found, index)
            index = self._found[row] if row < len(self._found) else len(markers)
        is_there = index < len(markers) and markers[index].offset == mark.offset
        return len(self._bookmarks) + row if is_there else None

    def advance(self, seconds: float) -> None:
        """Compare marks for about this time; at least a few."""
        if self._revision != self._marks.markers.revision:
            self._revision, self._from = self._marks.markers.revision, 0
            self._first, self._compared = (), 0
            del self._found[:]
        until = perf_counter() + seconds
        while not self.is_complete:
            for index in self._next():
                marker = self._marks.markers[index]
                if self._matches(self._marks.words(marker), marker.offset):
                    self._found.append(index)
            if perf_counter() >= until:
                break

    @property
    def _left(self) -> int:
        return len(self._first) - self._compared

    def _next(self) -> Sequence[int]:
        if self._left:
            found = self._first[self._compared : self._compared + _AT_ONCE]
            self._compared += len(found)
            return found
        start = self._from
        self._from = min(start + _AT_ONCE, len(self._marks.markers))
        return range(start, self._from)

    def _matches(self, words: SafeText, offset: int) -> bool:
        """Return whether each word is in the words of a mark, or begins the time of its moment."""
        text = words.casefold()
        missing = [word for word in self._words if word not in text]
        if not all(word[0].isdecimal() for word in missing):
            return False
        time = self._marks.time(offset) if missing else ""
        return all(time.startswith(word) for word in missing)


HINT = SafeText("a time, +95s, -10s, #12, 50%, start, live, a name")
_HINT_OF_FINISHED = SafeText(HINT.replace("live", "end"))
_KEYS = SafeText("enter go · ctrl+r rename · ctrl+x delete")
_PARTS = frozenset("0123456789:+-#%.TZsmh ")
"""The characters of times, durations, calls and percentages. A part of one is not reported as a mistake."""

Goal = int | End | None
"""A moment; `End.LIVE` for the live end, whose offset grows; None to stay."""


def goal_of(text: str, chosen: Mark | None, marks: Marks, moment: int) -> Goal | Problem:
    """Return the goal of enter: the selected mark, or else the moment in the text; None for neither."""
    if chosen is not None:
        return chosen.offset
    if not text.strip():
        return None
    parsed = parse(text)
    if isinstance(parsed, Problem) or parsed is End.LIVE:
        return parsed
    return offset_of(parsed, marks.session, marks.timeline, moment, marks.bookmarks.by_name())


def suggested_row(found: MarkFilter, marks: Marks, moment: int) -> int | None:
    """Return the row to select while the user has selected none; None for none. It is the bookmark of the
    present moment while nothing is typed, and the bookmark whose name is typed. For other words that name
    no moment of the session, it is the first mark that matches. In a session that began at 09:14:06, `09:14`
    names no moment, but matches the times of its marks."""
    if not found.text.strip():
        return found.row_of_bookmark(moment)
    parsed = parse(found.text)
    exact = marks.bookmarks.by_name().get(parsed.name) if isinstance(parsed, Named) else None
    row = None if exact is None else found.row_of_bookmark(exact)
    is_moment = row is not None or not isinstance(goal_of(found.text, None, marks, moment), Problem)
    return row if is_moment or not len(found) else 0


def note_of(
    goal: Goal | Problem, found: MarkFilter, chosen: Mark | None, marks: Marks
) -> tuple[SafeText, bool]:
    """Return the goal of enter, what can be typed, or a mistake; and whether it is a mistake."""
    is_closed = marks.session.is_closed
    hint = _HINT_OF_FINISHED if is_closed else HINT
    if isinstance(goal, Problem):
        text = found.text.strip()
        is_part = _PARTS.issuperset(text) or any(end.startswith(text.lower()) for end in ENDS)
        is_named = isinstance(parse(text), Named)
        if (is_part and is_named) or not found.is_complete:
            return hint, False
        words = SafeText(f"no marked moment matches {safe_line(text)}") if is_named else goal.words
        return words, True
    if goal is None:
        return hint, False
    if chosen is not None and chosen.bookmark is not None:
        return _KEYS, False
    where = f"goes to {'the end' if isinstance(goal, End) else marks.time(goal)}"
    where = "returns to live" if isinstance(goal, End) and not is_closed else where
    return SafeText(f"enter {where} · ctrl+r names it"), False


# The list of marked moments in the goto box.

_TIME = 8
NONE = -1
"""The row of the cursor while none is selected."""


class MarkList(RowView, can_focus=False):
    """One row per marked moment. The keys go to the input above it, which keeps the focus."""

    def __init__(self, found: MarkFilter) -> None:
        super().__init__("", id="marks")
        self._found = found
        self.is_picked = False

    @property
    def picked(self) -> Mark | None:
        return self.chosen if self.is_picked else None

    @property
    def chosen(self) -> Mark | None:
        return self._found[self.cursor] if 0 <= self.cursor < self.line_count() else None

    def line_count(self) -> int:
        return len(self._found)

    def show(self, found: MarkFilter) -> None:
        """List other marks from the top, without a selected row."""
        self._found = found
        self.is_picked = False
        self.cursor = NONE
        self.settle_at(0)
        self.show_lines()

    def sync(self, picked: Mark | None) -> None:
        """Show the marks that match now, and select the mark that the user selected before."""
        if picked is not None and (self.chosen is None or self.chosen.offset != picked.offset):
            row = self._found.row_of(picked)
            self.is_picked = row is not None
            self.cursor = NONE if row is None else row
        self.show_lines()

    def suggest(self, row: int | None) -> None:
        if not self.is_picked and (row is None or row < self.line_count()):
            self.cursor = NONE if row is None else row

    def choose(self, row: int) -> None:
        if self.line_count():
            self.is_picked = True
            super().choose(row)

    def row(self, y: int, width: int) -> Spans:
        mark = self._found[y]
        time = SafeText(f"{mark.time:>{_TIME}}  ")
        room = max(width - columns(time) - 2, 1)
        return [(time, "muted"), (SafeText(f"{mark.sign} "), mark.style), (cut(mark.words, room), "plain")]


# The goto box: goes to a moment that is typed, or to a marked moment that is selected below the input.

_SLICE_SECONDS = 0.010
_EVERY_SECONDS = 0.016
"""The pause between two slices of the search, in which keys are handled."""
_REFRESH_SECONDS = 0.5
_LEAST_ROWS = 4
_MOST_ROWS = 14
_OTHER_ROWS = 4


class _GotoInput(LineInput):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "screen.rename", "Name", show=False),
        Binding("ctrl+x", "screen.remove", "Delete", show=False),
    ]


class GotoScreen(InputBox[Goal]):
    """The goto box. It is dismissed with the moment to go to, or None. `+10s` is relative to `moment`."""

    def __init__(self, marks: Marks, moment: int) -> None:
        self._marks = marks
        self._moment = moment
        self._filter = MarkFilter(marks, "")
        self._list = MarkList(self._filter)
        self._note = Static(classes="note")
        field = _GotoInput(compact=True, select_on_focus=False)
        super().__init__("goto", "Go to", field, self._list, self._note)
        self._named: int | None = None
        """The moment whose bookmark is being named; None otherwise."""
        self._typed = ""
        self._enters = False
        """Whether enter was pressed before the search had found anything."""

    def on_mount(self) -> None:
        self._marks.bookmarks.refresh()
        self._marks.update(_SLICE_SECONDS)
        rows = len(self._marks.bookmarks) + len(self._marks.markers)
        self._box.styles.height = min(max(rows, _LEAST_ROWS), _MOST_ROWS) + _OTHER_ROWS
        self._timer = self.set_interval(_EVERY_SECONDS, self._slice, pause=True)
        self.set_interval(_REFRESH_SECONDS, self._refresh)
        self._search("")

    def action_move(self, rows: int) -> None:
        super().action_move(rows)
        self._show()

    def action_back(self) -> None:
        if self._named is None:
            super().action_back()
        else:
            self._end_naming()

    def action_rename(self) -> None:
        """Type a name for the selected moment, or for the moment that was typed or is shown."""
        goal = self._goal()
        if self._named is not None or isinstance(goal, Problem):
            return
        self._typed = self._input.value
        offset = self._moment if goal is None else goal
        self._named = self._marks.timeline.size if isinstance(offset, End) else offset
        bookmark = self._marks.bookmarks.at(self._named)
        self._label.update("name")
        self._set_text("" if bookmark is None else bookmark.name)
        self._show()

    def action_remove(self) -> None:
        chosen = self._list.chosen
        if self._named is None and chosen is not None and chosen.bookmark is not None:
            self.notify(self._marks.toggle(chosen.offset), markup=False)
            self._search(self._input.value)

    def action_open(self) -> None:
        """Go to the moment. Without one, stay; while the search may still find one, wait for it."""
        goal = self._goal()
        self._enters = isinstance(goal, Problem) and not self._filter.is_complete
        if not isinstance(goal, Problem):
            self.dismiss(goal)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._named is None:
            self._enters = False
            self._search(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._named is None:
            self.action_open()
            return
        if problem := self._marks.name(self._named, self._input.value):
            self.notify(problem, markup=False)
        self._end_naming()

    def _search(self, text: str) -> None:
        self._filter = self._filter.retyped(text)
        self._list.show(self._filter)
        self._slice()

    def _slice(self) -> None:
        picked = self._list.picked
        is_more = self._marks.update(_SLICE_SECONDS / 2)
        self._filter.advance(_SLICE_SECONDS)
        if is_more or not self._filter.is_complete:
            self._timer.resume()
        else:
            self._timer.pause()
        self._list.sync(picked)
        self._show()
        if self._enters:
            self.action_open()

    def _refresh(self) -> None:
        picked = self._list.picked
        if self._marks.bookmarks.refresh():
            self._filter.refresh_bookmarks()
            self._list.sync(picked)
        self._slice()

    def _goal(self) -> Goal | Problem:
        return goal_of(self._filter.text, self._list.chosen, self._marks, self._moment)

    def _show(self) -> None:
        if self._named is not None:
            words = SafeText(f"the name of the bookmark at {self._marks.time(self._named)}")
            is_problem = False
        else:
            self._list.suggest(suggested_row(self._filter, self._marks, self._moment))
            words, is_problem = note_of(self._goal(), self._filter, self._list.chosen, self._marks)
        self._note.set_class(is_problem, "-problem")
        self._note.update(Content(f"! {words}" if is_problem else words), layout=False)
        more = "" if self._filter.is_complete else "…"
        self._box.border_subtitle = Content(f"{len(self._filter):,}{more} found" if self._filter.text else "")

    def _end_naming(self) -> None:
        self._named = None
        self._label.update(">")
        self._set_text(self._typed)
        self._search(self._typed)

    def _set_text(self, text: str) -> None:
        with self._input.prevent(Input.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
