"""A box with an input and a list below it, and its input, which those of the bars are too."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Input, Static

from agentwatch.screen.widgets.line_view import RowView
from agentwatch.text.safe import safe_line


class LineInput(Input):
    """An input that reduces pasted text to one line of safe text."""

    def validate_value(self, value: str) -> str:
        return safe_line(value)


class InputBox(ModalScreen[ScreenResultType]):
    """A box with an input, and a list below it in which the keys of the input select a row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("pagedown", "move(8)", "Page down", show=False),
        Binding("pageup", "move(-8)", "Page up", show=False),
    ]

    def __init__(self, id: str, title: str, field: LineInput, rows: RowView, *below: Widget) -> None:
        super().__init__()
        self._label = Static(">", classes="label")
        self._input, self._rows, self._below = field, rows, below
        self._box = Vertical(id=id)
        self._box.border_title = Content(title)

    def compose(self) -> ComposeResult:
        with self._box:
            with Horizontal(classes="typed"):
                yield self._label
                yield self._input
            yield self._rows
            yield from self._below

    def on_mount(self) -> None:
        self.set_focus(self._input, scroll_visible=False)

    def on_key(self, event: events.Key) -> None:
        """Type a letter that was pressed before the input had the focus; the input stops all others."""
        if event.is_printable and event.character is not None:
            event.stop()
            self._input.insert_text_at_cursor(event.character)

    def action_move(self, rows: int) -> None:
        self._rows.action_move(rows)

    def action_back(self) -> None:
        self.dismiss(None)
