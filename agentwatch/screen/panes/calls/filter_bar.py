"""The filter bar: the input line that filters the calls while the user types."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widgets import Input

from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.panes.rule_bar import RuleBar
from agentwatch.screen.widgets.line_view import PaneWanted
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.rules.language.completion import Offer
    from agentwatch.rules.language.errors import RuleError


class FilterBar(RuleBar):
    """Filters the calls while the user types; enter keeps the filter, esc clears it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("filter bar")

    def __init__(self, calls: CallTable) -> None:
        super().__init__(
            "Filter",
            "a word, failed, tool:edit, path:*.py, duration>50s; ? has all fields",
            self._next_words,
            id="filter",
        )
        self._calls = calls

    def open(self) -> None:
        """Focus the input, with the current filter as its text."""
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
        """Clear the filter and close the bar."""
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
