"""The judgement on one rule in one recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from agentwatch.rules.check.kinds import Rule, Severity
from agentwatch.session.actions import action
from agentwatch.session.call import Call
from agentwatch.text.safe import SafeText

MOST_VIOLATIONS = 100
"""The number of places that are kept for a rule. All places are counted."""


class State(StrEnum):
    """Whether a rule holds."""

    HOLDS = "holds"
    BROKEN = "broken"
    SKIPPED = "skipped"
    """The rule does not apply: a run that failed has no result to compare with its text."""
    UNKNOWN = "not judged"
    """The recording does not contain the values that the rule needs."""


class Violation(NamedTuple):
    """A place at which a rule is broken."""

    at: str
    """The suffix of the recording's address: `#12`, `@+95s`."""
    words: SafeText
    """The call as a line of the text format, or what happened."""

    @classmethod
    def by(cls, call: Call) -> Violation:
        """Return the violation by a call."""
        return cls(f"#{call.number}", action(call))


class Judgement(NamedTuple):
    """A rule and whether it holds."""

    rule: Rule
    state: State
    words: SafeText
    """The reason in a few words: `2 calls`, `7 failed`, `no calls`."""
    looked_at: int = 0
    """The number of calls that could be judged; for a rule about the session, 1 or 0."""
    hits: int = 0
    """The number of places at which the rule is broken."""
    places: Sequence[Violation] = ()
    """The first 100 places."""
    not_judged: int = 0
    """The number of calls for which a deciding value is unknown."""
    unknown: Mapping[str, int] = MappingProxyType({})
    """For each field, the number of these calls in which the field is unknown."""
    value: float | None = None
    """The amount that a limit limits: a number, milliseconds, US dollars or a percentage; None if unknown."""

    @property
    def is_error(self) -> bool:
        """Whether the rule is broken and is an error."""
        return self.state is State.BROKEN and self.rule.severity is Severity.ERROR

    @property
    def is_warning(self) -> bool:
        """Whether the rule is broken and is a warning."""
        return self.state is State.BROKEN and self.rule.severity is Severity.WARNING


class Checked(NamedTuple):
    """A recording and the judgements of all rules on it."""

    address: str
    """The address as the user typed it."""
    judgements: Sequence[Judgement]
    calls: int
    format: str | None
    seconds: float
    """The time for reading and judging, in seconds."""
    is_live: bool = False
    """Whether the recording is still being written, and was checked up to its present end."""


def is_misused(blind_rules: Iterable[Judgement]) -> bool:
    """Return whether one of the rules that had nothing to check is not a warning."""
    return any(each.rule.severity is Severity.ERROR for each in blind_rules)


def partly_judged(checked: Sequence[Checked]) -> list[Judgement]:
    """Return the rules that could judge only some of the calls, each with the first such recording."""
    return [
        partial[0]
        for judgements in zip(*(each.judgements for each in checked), strict=True)
        if (partial := [each for each in judgements if each.not_judged and each.state is not State.UNKNOWN])
    ]


def blind(checked: Sequence[Checked]) -> list[Judgement]:
    """Return the rules that could be judged in no recording, each with why not in the first of them."""
    return [
        judgements[0]
        for judgements in zip(*(each.judgements for each in checked), strict=True)
        if all(each.state is State.UNKNOWN for each in judgements)
    ]
