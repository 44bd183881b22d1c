"""A rule: a pattern of one tool's closing line, and how its numbers are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from agentwatch.analysis.verdicts.tally import Counts, Noun, Tally

_DIGITS = "0123456789"
_PIECES = {"N": "([0-9]{1,9})", "S": "[0-9.]{1,12}", "_": "[ \t]{1,12}"}
_MARKED = re.compile("<([NS_])>")


class Rule(NamedTuple):
    """One closing line of one tool."""

    tool: str
    noun: Noun
    first: str
    """The characters with which the line may begin. A line is matched only with the rules of its first
    character: 40 patterns for each of 400 lines would take 5 ms."""
    source: str
    """The pattern, with marks for the pieces that many rules share."""
    read: Callable[[Tally, re.Match[str]], None]
    """Adds what the line reports to the tally of the tool."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(_MARKED.sub(lambda found: _PIECES[found[1]], self.source))


def rule(
    tool: str,
    first: str,
    pattern: str,
    read: Callable[[Tally, re.Match[str]], None],
    noun: Noun = Noun.TESTS,
) -> Rule:
    """Return a rule.

    Args:
        tool: The name of the tool.
        first: The characters with which the line may begin; `0` stands for any digit.
        pattern: The pattern. `<N>` is a group that matches a number, `<S>` a number of seconds, `<_>` blanks.
            Each repetition in it must be bounded.
        read: Adds what the line reports to the tally of the tool.
        noun: What the tool counts.
    """
    return Rule(tool, noun, first.replace("0", _DIGITS), pattern, read)


def listed(text: str, separator: str) -> dict[str, int]:
    """Return the numbers of a list, by the words after them: `3 failed, 120 passed`."""
    found: dict[str, int] = {}
    for piece in text.split(separator):
        number, _, name = piece.strip().partition(" ")
        if number.isascii() and number.isdigit() and len(number) < 10:
            found[name] = found.get(name, 0) + int(number)
    return found


def named(text: str, separator: str, sign: str) -> dict[str, int]:
    """Return the numbers of a list, by the words before them: `failures=1, errors=2`."""
    found: dict[str, int] = {}
    for piece in text.split(separator):
        name, _, number = piece.partition(sign)
        number = number.strip()
        if number.isascii() and number.isdigit() and len(number) < 10:
            found[name.strip()] = int(number)
    return found


def counts_of(found: dict[str, int]) -> Counts:
    """Return the counts of a list of test results."""
    return Counts(
        passed=found.get("passed", 0),
        failed=found.get("failed", 0),
        errors=found.get("error", 0) + found.get("errors", 0),
        skipped=found.get("skipped", 0),
    )
