"""The line in which the words of the filter are typed."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual.binding import Binding, BindingType
from textual.widgets import Input


class Filtered(Protocol):
    """What is filtered."""

    def filter_by(self, words: str) -> None:
        """Show only what matches words."""
        ...

    def focus(self, scroll_visible: bool = True) -> object:
        """Take the keys."""
        ...


class FilterBar(Input):
    """Filters the calls while it is typed in; enter keeps the words, esc drops them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "All calls", id="drop-filter", tooltip="Show all calls again")
    ]

    def __init__(self, pane: Filtered, text: str) -> None:
        """Filter `pane`, beginning with `text`."""
        super().__init__(
            text,
            placeholder="tool, failed, running, words of the target",
            id="filter",
            compact=True,
            select_on_focus=False,
        )
        self._pane = pane

    def on_mount(self) -> None:
        """Take the keys at once."""
        self.focus(scroll_visible=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter by what has been typed so far."""
        event.stop()
        self._pane.filter_by(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the words."""
        event.stop()
        self._close()

    def action_drop(self) -> None:
        """Drop the words: all calls are shown."""
        self._pane.filter_by("")
        self._close()

    def _close(self) -> None:
        self._pane.focus(scroll_visible=False)
        self.remove()
