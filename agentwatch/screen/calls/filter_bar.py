"""The input line of the call filter."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual.binding import Binding, BindingType
from textual.widgets import Input


class Filtered(Protocol):
    """A pane that can be filtered."""

    def filter_by(self, words: str) -> None:
        """Show only what matches `words`; an empty string shows everything."""
        ...

    def focus(self, scroll_visible: bool = True) -> object:
        """Take the keyboard focus."""
        ...


class FilterBar(Input):
    """Filters the calls while the user types; enter keeps the filter, esc removes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "All calls", id="drop-filter", tooltip="Clear the filter")
    ]

    def __init__(self, pane: Filtered, text: str) -> None:
        """Create the input line.

        Args:
            pane: The pane to filter.
            text: The filter to start with.
        """
        super().__init__(
            text,
            placeholder="tool, failed, running, part of the target",
            id="filter",
            compact=True,
            select_on_focus=False,
        )
        self._pane = pane

    def on_mount(self) -> None:
        """Take the keyboard focus."""
        self.focus(scroll_visible=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter by the current text."""
        event.stop()
        self._pane.filter_by(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and close the input line."""
        event.stop()
        self._close()

    def action_drop(self) -> None:
        """Remove the filter, so that all calls are shown, and close the input line."""
        self._pane.filter_by("")
        self._close()

    def _close(self) -> None:
        self._pane.focus(scroll_visible=False)
        self.remove()
