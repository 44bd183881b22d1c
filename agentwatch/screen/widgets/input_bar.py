"""The bars below the panes: an input with a label and a note."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual.actions import SkipAction
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static

from agentwatch.screen.keys import bindings
from agentwatch.text.safe import SafeText, columns, cut, safe_line

if TYPE_CHECKING:
    from agentwatch.rules.language.completion import Offer
    from agentwatch.rules.language.errors import RuleError


class InputBar(Horizontal):
    """A label, an input and a note at the right; hidden until it is opened. Its contents are mounted when it
    is first opened: this takes 3 ms, which the first frame saves. The input has the focus before the next key
    arrives. `suggester` returns the continuation of the text, which right arrow accepts."""

    def __init__(self, label: str, placeholder: str, *, id: str, suggester: Suggester | None = None) -> None:
        super().__init__(id=id, classes="bar")
        self.display = False
        self._label = label
        self._placeholder = placeholder
        self._suggester = suggester
        self._note = Static(classes="note")

    @cached_property
    def input(self) -> Input:
        from agentwatch.screen.widgets.input_box import LineInput

        return LineInput(
            placeholder=self._placeholder, compact=True, select_on_focus=False, suggester=self._suggester
        )

    @property
    def is_typed_in(self) -> bool:
        return self.styles.display != "none" and self.input.can_focus

    def show_text(self, text: str, *, takes_keys: bool) -> None:
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
        self._note.update(Content(words), layout=False)

    @property
    def note_width(self) -> int:
        return self._note.size.width


# An input of a rule: it offers fields and values while the user types, and says what is wrong.

_MOST_SHOWN = 5
_WORD_COLUMNS = 24


class RuleBar(InputBar):
    """Completes the last word with tab, or with the right arrow at its end."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("rule bar")

    def __init__(
        self, label: str, placeholder: str, offers: Callable[[str], list[Offer]], *, id: str
    ) -> None:
        super().__init__(label, placeholder, id=id, suggester=_FirstOffer(offers))
        self._offers = offers

    def explain(self, text: str, problem: RuleError | None, otherwise: SafeText) -> None:
        offers = self._offers(text)
        if offers:
            self.show_note(offered(offers))
        else:
            self.show_note(otherwise if problem is None else self._reason(problem))

    def complain(self, problem: RuleError) -> None:
        self.show_note(self._reason(problem))

    def _reason(self, problem: RuleError) -> SafeText:
        """Return what is wrong; if that is too wide, what to write instead."""
        _, _, hint = problem.reason.rpartition(" (did you mean ")
        words = safe_line(problem.reason)
        if hint and 0 < self.note_width < columns(words):
            return safe_line(f"did you mean {hint.removesuffix(')')}")
        return words

    def action_complete(self) -> None:
        """Complete the last word with the first offer; without one, go to the next pane."""
        offers = self._offers(self.input.value) if self.input.cursor_at_end else []
        if not offers:
            raise SkipAction
        self.input.value = offers[0].text
        self.input.cursor_position = len(self.input.value)


def offered(offers: list[Offer]) -> SafeText:
    """Return offers in words: `duration> how long the call took`, or `lines_added> · lines_removed>`."""
    first = offers[0]
    start = safe_line(f"{first.field}:" if first.field else "")
    if len(offers) == 1:
        return safe_line(f"{start}{first.word} {first.about}".rstrip())
    words = [
        cut(safe_line(f"{offer.word} {offer.about}".rstrip() if start else offer.word), _WORD_COLUMNS)
        for offer in offers[:_MOST_SHOWN]
    ]
    more = f" · {len(offers) - _MOST_SHOWN} more" if len(offers) > _MOST_SHOWN else ""
    return SafeText(f"{start}{' · '.join(words)}{more}")


class _FirstOffer(Suggester):
    def __init__(self, offers: Callable[[str], list[Offer]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._offers = offers

    async def get_suggestion(self, value: str) -> str | None:
        """Return the text with the first offer at its end, if it begins with the text."""
        found = self._offers(value)
        return found[0].text if found and found[0].text.startswith(value) else None
