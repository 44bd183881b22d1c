"""The search bar and the filter bar of the list, and the line that says what is searched and filtered."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from agentwatch.machine.listing.request import Request, Sort
from agentwatch.machine.listing.row_filter import row_filter_problem
from agentwatch.rules import RuleError
from agentwatch.rules.completion import Offer
from agentwatch.screen.frame.input_bar import InputBar
from agentwatch.screen.frame.rule_bar import RuleBar
from agentwatch.screen.home.keys import BAR_KEYS
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, safe_line


class WordsBar(InputBar):
    """An input whose words take effect while they are typed; enter keeps them, esc clears them."""

    BINDINGS: ClassVar[list[BindingType]] = [*BAR_KEYS]

    class Typed(Message):
        """Posted when the words have changed."""

        def __init__(self, bar: WordsBar, words: str) -> None:
            """Create the message; `words` are the words of `bar`."""
            super().__init__()
            self.bar, self.words = bar, words

    class Left(Message):
        """Posted when the bar was closed."""

        def __init__(self, bar: WordsBar, words: str, *, is_entered: bool) -> None:
            """Create the message.

            Args:
                bar: The bar.
                words: The words that are kept.
                is_entered: Whether the bar was closed by enter.
            """
            super().__init__()
            self.bar, self.words, self.is_entered = bar, words, is_entered

    def action_drop(self) -> None:
        """Clear the words and close the bar."""
        self.display = False
        self.post_message(self.Typed(self, ""))
        self.post_message(self.Left(self, "", is_entered=False))

    def problem(self, words: str) -> RuleError | None:
        """Return what is wrong with the words, so that they cannot be kept; None if nothing is."""
        del words
        return None

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self, event.value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self.problem(event.value) is None:
            self.display = False
            self.post_message(self.Left(self, event.value, is_entered=True))


class SessionFilterBar(RuleBar, WordsBar):
    """The filter of the list, which offers fields and values while the user types."""

    def problem(self, words: str) -> RuleError | None:
        """Return what is wrong with the words."""
        return row_filter_problem(words)


class HomeBars(Vertical):
    """The two bars, of which at most one is open, and the line that says what the list shows."""

    def __init__(self, offers: Callable[[str], list[Offer]]) -> None:
        """Create the bars, hidden.

        Args:
            offers: Returns how the words of a filter can continue.
        """
        super().__init__(id="home-bars")
        self.find = WordsBar(
            "Find", "words of titles and prompts; enter: in the contents too", id="home-find"
        )
        self.filter = SessionFilterBar(
            "Filter", "a word, failed, agent:codex, repo:api, age<2h", offers, id="home-filter"
        )
        self._said = Static(id="request")
        self._words = SafeText("")

    def compose(self) -> ComposeResult:
        """Lay out the line above the bars."""
        yield self._said
        yield self.find
        yield self.filter

    def open(self, name: str, words: str) -> None:
        """Open the bar `find` or `filter` with these words in it, and close the other one."""
        bar, other = (self.find, self.filter) if name == "find" else (self.filter, self.find)
        other.display = False
        bar.show_text(words, takes_keys=True)

    def show(self, request: Request, matches: int, total: int, hidden: int = 0) -> None:
        """Say what the list shows, and how many sessions match.

        Args:
            request: What the list shows.
            matches: The number of sessions that match.
            total: The number of all sessions.
            hidden: How many of those that match are hidden.
        """
        found = f"{matches - hidden:,} of {plural(total, 'session')}"
        found += f", {hidden:,} hidden" if hidden else ""
        keys = SafeText(f"{found} · enter: keep · esc: clear")
        if self.find.is_typed_in:
            self.find.show_note(keys)
        if self.filter.is_typed_in:
            text = self.filter.input.value
            self.filter.explain(text, self.filter.problem(text), keys)
        is_typed_in = self.find.is_typed_in or self.filter.is_typed_in
        words = SafeText("" if is_typed_in else " · ".join(_said(request, found)))
        if words != self._words:
            self._words = words
            self._said.update(Content(f" {words}"), layout=False)
            self._said.display = bool(words)


def _said(request: Request, found: str) -> list[str]:
    said = []
    if request.search.split():
        said.append(f"search “{safe_line(request.search)}”")
    if request.filter.split():
        said.append(f"filter “{safe_line(request.filter)}”")
    if said:
        said.append(f"{found} · esc: all")
    if request.sort is not Sort.STATE:
        said.append(f"sorted by {request.sort}")
    if request.shows_hidden:
        said.append("hidden ones shown")
    return said
