"""The screen of the comparison of two runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from agentwatch.comparing import Comparison
from agentwatch.screen.comparing.calls_view import CallsView
from agentwatch.screen.comparing.differences_view import DifferencesView
from agentwatch.screen.comparing.files_view import FilesView
from agentwatch.screen.comparing.keys import COMPARISON_KEYS
from agentwatch.screen.comparing.pair.screen import PairScreen
from agentwatch.screen.comparing.tabs import ViewTabs
from agentwatch.screen.comparing.text_view import TextView
from agentwatch.screen.comparing.totals import TotalsHeader
from agentwatch.screen.frame.key_hints import KeyHints
from agentwatch.screen.terminal.first_frame import prepare
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line


class ComparisonScreen(Screen[None]):
    """Shows the calls of two runs side by side, their files, or their final texts."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall"), (45, "-roomy")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.leave", "Quit", id="leave", tooltip="Quit"),
        Binding("question_mark", "app.help", "Help", key_display="?", id="help", tooltip="Show all keys"),
        Binding("escape", "back", "Back", show=False, id="back"),
        *COMPARISON_KEYS,
    ]

    class SessionWanted(Message):
        """Posted when the session of a run should be opened."""

        def __init__(self, side: int, number: int | None) -> None:
            """Create the message.

            Args:
                side: 0 for the first run, 1 for the second.
                number: The number of the call at which it opens; None for its end.
            """
            super().__init__()
            self.side, self.number = side, number

    def __init__(
        self, comparison: Comparison, addresses: tuple[str, str], rebound: Mapping[str, str]
    ) -> None:
        """Create the screen.

        Args:
            comparison: The comparison.
            addresses: The addresses of the two sessions, which are copied with the number of a call.
            rebound: The user's own key bindings, by binding id.
        """
        super().__init__()
        prepare(self)
        self._comparison, self._addresses = comparison, addresses
        self._calls = CallsView(comparison)
        self._texts = TextView(comparison.text)
        self._views: tuple[DifferencesView, ...] = (self._calls, FilesView(comparison), self._texts)
        self._view: DifferencesView = self._calls
        self._totals = TotalsHeader(comparison)
        self._tabs = ViewTabs(comparison, self._views)
        self._words = Static(id="difference")
        self._hints = KeyHints(rebound, lambda: "comparison")

    def compose(self) -> ComposeResult:
        """Lay out the totals, the views, the details of the selected line, and the keys."""
        yield self._totals
        yield self._tabs
        yield from self._views
        yield self._words
        yield self._hints

    def on_mount(self) -> None:
        """Show the calls."""
        for view in self._views:
            self.watch(view, "cursor", self._show_words, init=False)
        self.watch(self.app, "theme", self._show_words, init=False)
        self._show(self._calls)

    def on_resize(self) -> None:
        """Fit the lines around the views to the new width."""
        self._totals.draw()
        self._texts.lay_out(self.size.width)
        self._show_words()
        self.call_after_refresh(self._show_words)

    def action_step(self, direction: int) -> None:
        """Select the next (1) or previous (-1) difference of the view."""
        self._view.step_with_notice(direction)

    def action_view(self, step: int) -> None:
        """Show the next (1) or the previous (-1) view."""
        self._show(self._views[(self._views.index(self._view) + step) % len(self._views)])

    def action_back(self) -> None:
        """Return to the calls."""
        self._show(self._calls)

    def action_equal(self) -> None:
        """Show all equal calls, or fold them."""
        self._show(self._calls)
        is_shown = self._calls.toggle_equal()
        self._show_words()
        self.notify("all equal calls are shown" if is_shown else "equal calls are folded", markup=False)

    def action_open(self) -> None:
        """Show both calls of the selected line in full, or unfold equal calls."""
        if self._view is not self._calls:
            return
        if self._calls.unfold():
            self._show_words()
        elif self._calls.chosen is not None:
            self.app.push_screen(PairScreen(self._comparison, self._calls))

    def action_copy(self) -> None:
        """Copy the addresses of the selected calls, one per line."""
        row = self._calls.chosen if self._view is self._calls else None
        numbers = (None, None) if row is None else (row.a, row.b)
        found = [
            safe_line(f"{address}#{number}")
            for address, number in zip(self._addresses, numbers, strict=True)
            if number is not None
        ]
        if found:
            self.app.copy_to_clipboard("\n".join(found))
            self.notify(f"copied the address of {plural(len(found), 'call')}", markup=False)
        else:
            self.notify("no call is selected", markup=False)

    def action_session(self, side: int) -> None:
        """Open the session of a run at the selected call, or at the last call before the selected line."""
        number = self._calls.number_of(side) if self._view is self._calls else None
        self.post_message(self.SessionWanted(side, number))

    def _show(self, shown: DifferencesView) -> None:
        self._view = shown
        for view in self._views:
            view.display = view is shown
        self.set_focus(shown, scroll_visible=False)
        self._show_words()

    def _show_words(self) -> None:
        """Show the details of the selected line."""
        self._tabs.highlight(self._view)
        position, words = self._view.position(), self._view.words()
        line = SafeText(" · ".join(filter(None, (position, words))))
        self._words.update(Content(f" {cut(line, max(self.size.width - 2, 1))}"), layout=False)
