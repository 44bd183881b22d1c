"""The verdict on a call: what its command's tests, linters or build said, and how it is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from agentwatch.analysis.verdicts import checkers, runners
from agentwatch.analysis.verdicts.last_lines import last_lines
from agentwatch.analysis.verdicts.programs import Part, decides_exit, only_reads, parts_of
from agentwatch.analysis.verdicts.rules import Rule
from agentwatch.analysis.verdicts.tally import Counts, Noun, Tally


class Source(StrEnum):
    """How a verdict is known."""

    PATTERN = "pattern"
    """By the closing line of the tool."""
    EXIT = "exit"
    """By the exit code of the command."""


class Verdict(NamedTuple):
    """The result of the tests, linters or build that a command ran.

    A verdict may be neither red nor green: a test run in which nothing failed and nothing passed.
    """

    tool: str
    """The tool whose result it is: `pytest`, `cargo`."""
    is_red: bool
    is_green: bool
    source: Source
    counts: Counts
    """The numbers of this tool. Those of several tools are not added up."""
    words: str
    """The result in few words: `17 passed`; `1 failed, 4 passed`; `no tests ran`."""

    @property
    def colour(self) -> str:
        """The verdict in one word: `red`, `green`; `none` if nothing ran."""
        return "red" if self.is_red else "green" if self.is_green else "none"

    @property
    def words_and_source(self) -> str:
        """The words and how they are known: `17 passed (pattern)`. `17 passed, exit 1` says it itself."""
        is_said = self.is_red and self.source is Source.EXIT
        return self.words if is_said else f"{self.words} ({self.source})"

    @property
    def is_of_tests(self) -> bool:
        """Whether the tool runs tests; the others are linters, compilers and make."""
        return self.tool in runners.TOOLS


_RULES: dict[str, tuple[Rule, ...]] = {}
for _each in (*runners.RULES, *checkers.RULES):
    for _first in _each.first:
        _RULES[_first] = (*_RULES.get(_first, ()), _each)
_Matcher = tuple[Callable[[str], re.Match[str] | None], Rule]
_MATCHERS: dict[str, tuple[_Matcher, ...]] = {}
"""The rules with their compiled patterns, by the first character of a line: compiling all takes 5 ms."""


def verdict(command: str, output: str | Sequence[str], exit_code: int | None) -> Verdict | None:
    """Return the verdict on a command; None if it ran no tool with a known closing line.

    A closing line counts before the exit code: `pytest | tail -3` exits with the code of `tail`. A green line
    with an exit code other than 0 is red: the coverage may be too low. Without a line, an exit code of 0 is
    green only for tools that print nothing if they succeed: tsc, eslint and make.

    The cost is bounded, whatever the output contains: under 2 ms.

    Args:
        command: The command as the shell got it; only its first 2,000 characters are read.
        output: What the command printed, or its stdout and its stderr. Only the last 65,536 characters and
            400 lines of each are read.
        exit_code: The exit code; None if unknown.

    Example:
        >>> found = verdict("pytest -q | tail -1", "1 failed, 4 passed in 0.31s", 0)
        >>> found.is_red, found.words, str(found.source)
        (True, '1 failed, 4 passed', 'pattern')
    """
    parts = parts_of(command)
    if only_reads(parts):
        return None
    outputs = (output,) if isinstance(output, str) else output
    tallies = [tally for text in outputs for tally in _tallies(last_lines(text), parts)]
    if not tallies:
        return _by_exit(parts, exit_code)
    shown = max(tallies, key=lambda tally: (tally.is_red, tally.is_green, tally.noun))
    words, source, is_red = shown.words(), Source.PATTERN, shown.is_red
    if exit_code and not is_red:
        words, source, is_red = f"{words}, exit {exit_code}", Source.EXIT, True
    return Verdict(shown.tool, is_red, shown.is_green and not is_red, source, shown.counts, words)


def _compile(first: str) -> tuple[_Matcher, ...]:
    """Return the matchers of lines that begin with a character, and keep them."""
    matchers = tuple((rule.pattern.match, rule) for rule in _RULES.get(first, ()))
    if matchers or first.isascii():
        _MATCHERS[first] = matchers
    return matchers


def _tallies(lines: list[str], parts: Sequence[Part]) -> list[Tally]:
    """Return the result of each tool that closed its output, the last tool first."""
    tallies: dict[str, Tally] = {}
    matchers_of, may_be_type_error = _MATCHERS.get, checkers.TYPE_ERROR in "\n".join(lines)
    for line in lines:
        matchers = matchers_of(line[0])
        if matchers is None:
            matchers = _compile(line[0])
        if not matchers and not may_be_type_error:
            continue
        for match, rule in matchers:
            if (found := match(line)) is not None:
                tool = _tied(rule.tool, line, tallies, parts)
                tally = tallies.pop(tool, None) or Tally(tool, rule.noun)
                tallies[tool] = tally
                rule.read(tally, found)
                break
        if may_be_type_error and checkers.TYPE_ERROR in line and checkers.is_type_error(line):
            tallies.setdefault("tsc", Tally("tsc", Noun.PROBLEMS)).add(Counts(errors=1))
    return [tally for tally in reversed(tallies.values()) if tally.has_closed]


def _tied(tool: str, line: str, tallies: dict[str, Tally], parts: Sequence[Part]) -> str:
    """Return the tool that wrote a line: `Found 2 errors.` is written by ruff and by tsc."""
    if tool != "ruff" or not line.endswith(("error.", "errors.")):
        return tool
    programs = {part.program for part in parts}
    is_tsc = "ruff" not in programs and ("tsc" in tallies or not programs.isdisjoint({"tsc", "vue-tsc"}))
    return "tsc" if is_tsc else tool


def _by_exit(parts: Sequence[Part], exit_code: int | None) -> Verdict | None:
    tool = decides_exit(parts, checkers.SILENT) if exit_code == 0 else None
    if tool is None:
        return None
    words = "make succeeded" if tool == "make" else "no errors"
    return Verdict(tool, False, True, Source.EXIT, Counts(), words)
