"""An input of a rule: it offers fields and values while the user types, and says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.actions import SkipAction
from textual.binding import BindingType
from textual.suggester import Suggester

from agentwatch.screen.keys import bindings
from agentwatch.screen.widgets.input_bar import InputBar
from agentwatch.text.safe import SafeText, columns, cut, safe_line

if TYPE_CHECKING:
    from agentwatch.rules.language.completion import Offer
    from agentwatch.rules.language.errors import RuleError

_MOST_SHOWN = 5
_WORD_COLUMNS = 24


class RuleBar(InputBar):
    """Completes the last word with tab, or with the right arrow at its end. `label` says what the bar does in
    a word or two, `placeholder` what can be typed, and `offers` returns how a text can continue."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("rule bar")

    def __init__(
        self,
        label: str,
        placeholder: str,
        offers: Callable[[str], list[Offer]],
        *,
        id: str,
    ) -> None:
        super().__init__(label, placeholder, id=id, suggester=_FirstOffer(offers))
        self._offers = offers

    def explain(self, text: str, problem: RuleError | None, otherwise: SafeText) -> None:
        """Show how the text can continue, what is wrong with it, or other words."""
        offers = self._offers(text)
        if offers:
            self.show_note(offered(offers))
        else:
            self.show_note(otherwise if problem is None else self._reason(problem))

    def complain(self, problem: RuleError) -> None:
        """Show what is wrong."""
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
    start = _start(first)
    if len(offers) == 1:
        return safe_line(f"{start}{first.word} {first.about}".rstrip())
    words = [
        cut(safe_line(f"{offer.word} {offer.about}".rstrip() if start else offer.word), _WORD_COLUMNS)
        for offer in offers[:_MOST_SHOWN]
    ]
    more = f" · {len(offers) - _MOST_SHOWN} more" if len(offers) > _MOST_SHOWN else ""
    return SafeText(f"{start}{' · '.join(words)}{more}")


def _start(offer: Offer) -> SafeText:
    """Return the field of a value: `agent:`."""
    return safe_line(f"{offer.field}:" if offer.field else "")


class _FirstOffer(Suggester):
    """Suggests the first offer after the text that is typed."""

    def __init__(self, offers: Callable[[str], list[Offer]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._offers = offers

    async def get_suggestion(self, value: str) -> str | None:
        """Return the text with the first offer at its end, if it begins with the text."""
        found = self._offers(value)
        return found[0].text if found and found[0].text.startswith(value) else None
