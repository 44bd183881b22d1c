"""What was found about one rule in one recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from agentwatch.checking.rules import Rule, Severity
from agentwatch.safe_text import SafeText

MOST_HITS = 100
"""The places of a rule that are kept; all are counted."""


class State(StrEnum):
    """Whether a rule holds."""

    HOLDS = "holds"
    BROKEN = "broken"
    SKIPPED = "skipped"
    """It does not apply: the text of a run that failed equals no result."""
    UNKNOWN = "not judged"
    """The recording does not have what the rule looks at."""


class Hit(NamedTuple):
    """A place at which a rule is broken."""

    at: str
    """What follows the address of the recording: `#12`, `@+95s`."""
    words: SafeText
    """The call as a line of the text format, or what happened."""


class Judgement(NamedTuple):
    """A rule and whether it holds."""

    rule: Rule
    state: State
    words: SafeText
    """Why, in a few words: `2 calls`, `7 failed`, `no calls`."""
    looked_at: int = 0
    """The number of calls that could be judged; for a rule about the session, 1 or 0."""
    hits: int = 0
    """The number of places at which it is broken."""
    places: Sequence[Hit] = ()
    """The first 100 of them."""
    not_judged: int = 0
    """The number of calls about which a value that decides is unknown."""
    unknown: Mapping[str, int] = MappingProxyType({})
    """For each field, the number of those calls of which it is unknown."""
    value: float | None = None
    """Of a limit, the amount: a number, milliseconds, US dollars or a share of 100; None if unknown."""

    @property
    def is_error(self) -> bool:
        """Whether the rule is broken, and is no warning."""
        return self.state is State.BROKEN and self.rule.severity is Severity.ERROR

    @property
    def is_warning(self) -> bool:
        """Whether the rule is broken, and is a warning."""
        return self.state is State.BROKEN and self.rule.severity is Severity.WARNING


class Checked(NamedTuple):
    """A recording and the judgements of all rules on it."""

    address: str
    """As the user has named it."""
    judgements: Sequence[Judgement]
    calls: int
    format: str | None
    seconds: float
    """How long it took to read and judge it."""
    is_live: bool = False
    """Whether it is still being written, and was checked as it was."""


def is_misused(blind_rules: Iterable[Judgement]) -> bool:
    """Return whether one of the rules that looked at nothing is no warning."""
    return any(each.rule.severity is Severity.ERROR for each in blind_rules)


def blind(checked: Sequence[Checked]) -> list[Judgement]:
    """Return the rules that could be judged in no recording, each with why not in the first of them."""
    return [
        judgements[0]
        for judgements in zip(*(each.judgements for each in checked), strict=True)
        if all(each.state is State.UNKNOWN for each in judgements)
    ]
