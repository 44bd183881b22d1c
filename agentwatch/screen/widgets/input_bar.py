"""Inputs with a label: the bars below the panes, and the boxes with a list below the input."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.suggester import Suggester
from textual.widgets import Input, Static

from agentwatch.screen.widgets.line_view import RowView
from agentwatch.text.safe import SafeText, safe_line


class LineInput(Input):
    """An input field; pasted text is reduced to one line of safe text."""

    def validate_value(self, value: str) -> str:
        """Return the value as one line of safe text."""
        return safe_line(value)


class InputBox(ModalScreen[ScreenResultType]):
    """A box with an input, and a list below it in which the keys of the input select a row. `rows` cannot
    have the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("pagedown", "move(8)", "Page down", show=False),
        Binding("pageup", "move(-8)", "Page up", show=False),
    ]

    def __init__(self, field: LineInput, rows: RowView) -> None:
        super().__init__()
        self._input, self._rows = field, rows

    def on_mount(self) -> None:
        """Focus the input."""
        self.set_focus(self._input, scroll_visible=False)

    def on_key(self, event: events.Key) -> None:
        """Type a letter that was pressed before the input had the focus; the input stops all others."""
        if event.is_printable and event.character is not None:
            event.stop()
            self._input.insert_text_at_cursor(event.character)

    def action_move(self, rows: int) -> None:
        """Select another row."""
        self._rows.action_move(rows)

    def action_back(self) -> None:
        """Leave the box."""
        self.dismiss(None)


class InputBar(Horizontal):
    """A label, an input and a note at the right; hidden until it is opened.

    The bar is always mounted. What it contains is mounted when it is opened first, which takes 3 ms that the
    first frame does not wait for; the input has the focus before the next key arrives. `label` says what the
    bar does in a word or two, `placeholder` what can be typed; `suggester` returns how the text can continue,
    which right arrow takes.
    """

    def __init__(
        self,
        label: str,
        placeholder: str,
        *,
        id: str,
        suggester: Suggester | None = None,
    ) -> None:
        super().__init__(id=id, classes="bar")
        self.display = False
        self._label = label
        self._placeholder = placeholder
        self._suggester = suggester
        self._note = Static(classes="note")

    @cached_property
    def input(self) -> Input:
        """The input field."""
        return LineInput(
            placeholder=self._placeholder, compact=True, select_on_focus=False, suggester=self._suggester
        )

    @property
    def is_typed_in(self) -> bool:
        """Whether the bar is open and its input accepts keys."""
        return self.styles.display != "none" and self.input.can_focus

    def show_text(self, text: str, *, takes_keys: bool) -> None:
        """Show the bar with `text` in its input; focus the input if it accepts keys."""
        self.display = True
        if not self.children:
            self.mount(Static(self._label, classes="label"), self.input, self._note)
        self.input.can_focus = takes_keys
        with self.input.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)
        if takes_keys:
            self.screen.set_focus(self.input, scroll_visible=False)

    def show_note(self, words: SafeText) -> None:
        """Show words at the right of the input."""
        self._note.update(Content(words), layout=False)

    @property
    def note_width(self) -> int:
        """The width of the note, in columns."""
        return self._note.size.width
