"""The goto box: goes to a moment that is typed, or to a marked moment that is selected below the input."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentwatch.analysis.moments import End, Problem
from agentwatch.screen.frame.input_bar import LineInput
from agentwatch.screen.overlays.goto.goal import Goal, Note, goal_of, note_of, suggested_row
from agentwatch.screen.overlays.goto.mark_filter import MarkFilter
from agentwatch.screen.overlays.goto.mark_list import MarkList
from agentwatch.screen.overlays.goto.marks import Marks
from agentwatch.text.safe import SafeText

_SLICE_SECONDS = 0.010
_EVERY_SECONDS = 0.016
"""Interval between two slices of the search for marks; keys are handled in between."""
_REFRESH_SECONDS = 0.5
_LEAST_ROWS = 4
_MOST_ROWS = 14
"""The height of the list while the box is open: as many rows as it has at first, within these limits."""
_OTHER_ROWS = 4
"""The border, the input and the last line."""


class _GotoInput(LineInput):
    """The input, with the keys that act on the bookmark of the selected moment."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "screen.rename", "Name", show=False),
        Binding("ctrl+x", "screen.remove", "Delete", show=False),
    ]


class GotoScreen(ModalScreen[Goal]):
    """Dismissed with the moment to go to: an offset, `End.LIVE`, or None if the user has left the box."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("pagedown", "move(8)", "Page down", show=False),
        Binding("pageup", "move(-8)", "Page up", show=False),
    ]

    def __init__(self, marks: Marks, moment: int) -> None:
        """Create the box.

        Args:
            marks: The marked moments.
            moment: The moment that the screen shows, which `+10s` and `-10s` are relative to.
        """
        super().__init__()
        self._marks = marks
        self._moment = moment
        self._filter = MarkFilter(marks, "")
        self._list = MarkList(self._filter)
        self._input = _GotoInput(compact=True, select_on_focus=False)
        self._label = Static(">", classes="label")
        self._note = Static(classes="note")
        self._box = Vertical(id="goto")
        self._box.border_title = Content("Go to")
        self._named: int | None = None
        """The moment whose bookmark gets a name; None unless a name is being typed."""
        self._typed = ""
        """What was typed before the name."""
        self._enters = False
        """Whether enter was pressed before the search had found anything."""

    def compose(self) -> ComposeResult:
        """Lay out the input, the list, and the line that shows where enter leads."""
        with self._box:
            with Horizontal(classes="typed"):
                yield self._label
                yield self._input
            yield self._list
            yield self._note

    def on_mount(self) -> None:
        """Focus the input, and list all marks."""
        self.set_focus(self._input, scroll_visible=False)
        self._marks.bookmarks.refresh()
        self._marks.update(_SLICE_SECONDS)
        rows = len(self._marks.bookmarks) + len(self._marks.markers)
        self._box.styles.height = min(max(rows, _LEAST_ROWS), _MOST_ROWS) + _OTHER_ROWS
        self._timer = self.set_interval(_EVERY_SECONDS, self._slice, pause=True)
        self.set_interval(_REFRESH_SECONDS, self._refresh)
        self._search("")

    def on_key(self, event: events.Key) -> None:
        """Type a letter that was pressed before the input had the focus; the input stops all others."""
        if event.is_printable and event.character is not None:
            event.stop()
            self._input.insert_text_at_cursor(event.character)

    def action_move(self, rows: int) -> None:
        """Select another row."""
        self._list.action_move(rows)
        self._show()

    def action_back(self) -> None:
        """Stop naming a bookmark; otherwise leave the box."""
        if self._named is None:
            self.dismiss(None)
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
        """Remove the bookmark of the selected moment."""
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
        self.notify(self._marks.name(self._named, self._input.value), markup=False)
        self._end_naming()

    def _search(self, text: str) -> None:
        """List the marks that match what was typed."""
        self._filter = self._filter.retyped(text)
        self._list.show(self._filter)
        self._slice()

    def _slice(self) -> None:
        """Continue the search, and follow a session that grows."""
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
        """Show what another viewer has marked, and new markers."""
        picked = self._list.picked
        if self._marks.bookmarks.refresh():
            self._filter.refresh_bookmarks()
            self._list.sync(picked)
        self._slice()

    def _goal(self) -> Goal | Problem:
        return goal_of(self._filter.text, self._list.chosen, self._marks, self._moment)

    def _show(self) -> None:
        """Select the row that is suggested, and show in the last line where enter leads."""
        if self._named is not None:
            words = SafeText(f"the name of the bookmark at {self._marks.time(self._named)}")
            note = Note(words)
        else:
            self._list.suggest(suggested_row(self._filter, self._marks, self._moment))
            note = note_of(self._goal(), self._filter, self._list.chosen, self._marks)
        self._note.set_class(note.is_problem, "-problem")
        self._note.update(Content(f"! {note.words}" if note.is_problem else note.words), layout=False)
        more = "" if self._filter.is_complete else "…"
        self._box.border_subtitle = Content(f"{len(self._filter):,}{more} found" if self._filter.text else "")

    def _end_naming(self) -> None:
        """Return from a name to what was typed before."""
        self._named = None
        self._label.update(">")
        self._set_text(self._typed)
        self._search(self._typed)

    def _set_text(self, text: str) -> None:
        with self._input.prevent(Input.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
