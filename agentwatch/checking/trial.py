"""Counts how often rules would have fired in past sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentwatch.checking.judgement import Checked, State
from agentwatch.checking.rules import Rule
from agentwatch.text.safe import SafeText, safe_line

_MOST_PLACES = 20


class Fired(NamedTuple):
    """How often one rule would have fired."""

    rule: Rule
    sessions: int = 0
    """The number of sessions that break the rule."""
    hits: int = 0
    """The number of places in all these sessions."""
    judged: int = 0
    """The number of sessions in which the rule could be judged."""
    places: tuple[SafeText, ...] = ()
    """The addresses of the newest 20 places; for a rule without places, those of the sessions."""


class Trial:
    """Adds up the judgements of sessions, the newest session first. Only counts and 20 places are kept."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.sessions = 0
        self.calls = 0
        self.fired = [Fired(rule) for rule in rules]

    def add(self, checked: Checked) -> None:
        """Add a session that is older than those before it."""
        self.sessions += 1
        self.calls += checked.calls
        address = safe_line(checked.address)
        for index, (fired, judgement) in enumerate(zip(self.fired, checked.judgements, strict=True)):
            if judgement.state is State.HOLDS:
                self.fired[index] = fired._replace(judged=fired.judged + 1)
            elif judgement.state is State.BROKEN:
                found = [SafeText(f"{address}{each.at}") for each in judgement.places] or [address]
                self.fired[index] = fired._replace(
                    sessions=fired.sessions + 1,
                    judged=fired.judged + 1,
                    hits=fired.hits + judgement.hits,
                    places=(*fired.places, *found)[:_MOST_PLACES],
                )

    @property
    def is_broken(self) -> bool:
        """Whether a rule with severity `error` would have fired."""
        return any(each.sessions and each.rule.severity.value == "error" for each in self.fired)

    def blind(self) -> list[Fired]:
        """Return the rules that could be judged in no session."""
        return [each for each in self.fired if not each.judged]
