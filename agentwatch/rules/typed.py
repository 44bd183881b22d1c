"""A rule that is being typed: the words before its first mistake."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.rules.conditions import Condition
from agentwatch.rules.errors import RuleError
from agentwatch.rules.fields import Vocabulary
from agentwatch.rules.parser import parse

_MOST_MISTAKES = 20


class Typed(NamedTuple):
    """A rule as far as it can be used."""

    words: str
    """The words before the first mistake."""
    condition: Condition | None
    """The condition of these words; None if there are no words."""
    problem: RuleError | None = None
    """The first mistake; None without one."""


def typed(text: str, vocabulary: Vocabulary) -> Typed:
    """Return the rule of the words before the first mistake, and the mistake.

    While `failed duration>5` is being typed, which has no unit yet, the rule is `failed`.

    Args:
        text: The words.
        vocabulary: The fields that the rule may use.
    """
    problem, words = None, text
    for _ in range(_MOST_MISTAKES):
        if not words.strip():
            break
        try:
            return Typed(words, parse(words, vocabulary), problem)
        except RuleError as error:
            problem, words = problem or error, words[: error.at].rstrip()
    return Typed("", None, problem)
