"""The screen of a pair of calls, over the comparison."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.comparing import Comparison
from agentwatch.screen.comparing.calls_view import CallsView
from agentwatch.screen.comparing.keys import STEP_KEYS
from agentwatch.screen.comparing.pair.rows import pair_rows
from agentwatch.screen.comparing.pair.view import PairView
from agentwatch.text.safe import SafeText, columns, cut


class PairScreen(ModalScreen[None]):
    """Both calls of the selected line; the keys for the next difference show its calls."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        *STEP_KEYS,
        Binding("escape,q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, comparison: Comparison, calls: CallsView) -> None:
        """Create the screen for the line that is selected in a list."""
        super().__init__(id="pair-screen")
        self._comparison, self._calls = comparison, calls
        self._view = PairView()

    def compose(self) -> ComposeResult:
        """Lay out the pane."""
        yield self._view

    def on_mount(self) -> None:
        """Show the selected calls."""
        self._view.border_subtitle = Content("n N next, previous difference · esc back")
        self._show()

    def action_step(self, direction: int) -> None:
        """Show the calls of the next (1) or previous (-1) difference."""
        self._calls.step_with_notice(direction)
        self._show()

    def _show(self) -> None:
        row = self._calls.chosen
        if row is None:
            return
        words = SafeText(" · ".join(filter(None, (self._calls.position(), self._calls.words()))))
        room = max(self.app.size.width - 20, 20)
        self._view.border_title = Content(cut(words, room) if columns(words) > room else words)
        self._view.show_rows(pair_rows(self._comparison, row), is_alone=row.a is None or row.b is None)
