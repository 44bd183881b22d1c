"""The comparison of two runs: their calls side by side, the first divergence, files, verdicts and texts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from agentwatch.analysis.verdict_history import CommandVerdict
from agentwatch.analysis.verdicts import Verdict
from agentwatch.comparing.alignment import Match, Step, aligned
from agentwatch.comparing.keys import keys_of
from agentwatch.comparing.side import Lines, Side
from agentwatch.comparing.texts import TextDifference, text_difference
from agentwatch.events import Outcome
from agentwatch.session import Call

MOST_CALLS = 100_000
"""The first calls of each run are aligned, which takes 1.5 s. Later ones count only in the totals."""
SLOWER = 2
"""A duration differs if it is at least this many times the other,"""
SLOWER_MS = 1000
"""and at least this many milliseconds longer."""


class Aspect(StrEnum):
    """What differs in two matching calls."""

    OUTCOME = "outcome"
    EXIT_CODE = "exit_code"
    DURATION = "duration"
    LINES = "lines"
    """The numbers of lines that an edit added and removed."""
    VERDICT = "verdict"
    """Red or green, or the number of failed tests."""


class Row(NamedTuple):
    """A call of one run, or a pair of matching calls."""

    match: Match
    a: int | None
    """The number of the call of the first run; None if it has no such call."""
    b: int | None
    """The number of the call of the second run; None if it has no such call."""
    aspects: tuple[Aspect, ...] = ()
    """What differs; empty for a call that only one run made, and for calls with different targets."""

    @property
    def is_equal(self) -> bool:
        """Whether both runs made the call, at the same place, with the same result."""
        return self.match is Match.EQUAL and not self.aspects

    @property
    def parts(self) -> bool:
        """Whether the runs differ here in more than durations."""
        return self.match is not Match.EQUAL or any(each is not Aspect.DURATION for each in self.aspects)


class FileRow(NamedTuple):
    """A file that at least one of the runs changed."""

    path: str
    """Relative to the working directory. Foreign text."""
    a: Lines | None
    """None if the first run did not change the file."""
    b: Lines | None
    """None if the second run did not change the file."""


class CommandRow(NamedTuple):
    """A command that runs tests, a linter or a build, in at least one of the runs."""

    command: str
    """The levelled words of the command. Foreign text."""
    a: CommandVerdict | None
    """Its last call in the first run; None if it did not run there."""
    b: CommandVerdict | None
    """Its last call in the second run; None if it did not run there."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side: what they have in common, and where they differ."""

    a: Side
    b: Side
    rows: list[Row]
    """The calls in the order of both runs. A moved call is at its earlier place of the two."""
    first_divergence: int | None
    """The index of the first row in which the runs differ in more than durations; None without one."""
    files: list[FileRow]
    """In the order of their paths."""
    commands: list[CommandRow]
    """The command that ran last is first; then the commands that only the second run has."""
    text: TextDifference
    """The final answers."""
    is_exact: bool
    """Whether the calls could be aligned accurately; very long, repetitive runs are aligned approximately."""

    @property
    def left_out(self) -> tuple[int, int]:
        """The numbers of calls of each run that come after the aligned ones."""
        return max(len(self.a.session.calls) - MOST_CALLS, 0), max(len(self.b.session.calls) - MOST_CALLS, 0)

    def differences(self) -> list[int]:
        """Return the indices of the rows that are not equal."""
        return [index for index, row in enumerate(self.rows) if not row.is_equal]

    def counts(self) -> Counter[Match]:
        """Return the number of rows of each kind; `EQUAL` includes equal calls with other results."""
        return Counter(row.match for row in self.rows)

    def changed(self) -> int:
        """Return the number of equal calls with other results."""
        return sum(1 for row in self.rows if row.match is Match.EQUAL and row.parts)

    def retimed(self) -> int:
        """Return the number of equal calls with the same results, in other times."""
        return sum(1 for row in self.rows if row.match is Match.EQUAL and row.aspects and not row.parts)

    def calls(self, row: Row) -> tuple[Call | None, Call | None]:
        """Return the calls of a row."""
        return (
            None if row.a is None else self.a.session.calls[row.a - 1],
            None if row.b is None else self.b.session.calls[row.b - 1],
        )


def compare(a: Side, b: Side) -> Comparison:
    """Compare two runs.

    Two runs of 10,000 calls take 0.7 s. The time is linear in the number of calls.
    """
    steps, is_exact = aligned(keys_of(a.session, MOST_CALLS), keys_of(b.session, MOST_CALLS))
    rows = [
        Row(
            step.match,
            None if step.a is None else step.a + 1,
            None if step.b is None else step.b + 1,
            _aspects(a, b, step),
        )
        for step in steps
    ]
    return Comparison(
        a=a,
        b=b,
        rows=rows,
        first_divergence=next((index for index, row in enumerate(rows) if row.parts), None),
        files=[FileRow(path, a.files.get(path), b.files.get(path)) for path in sorted({*a.files, *b.files})],
        commands=[
            CommandRow(command, a.commands.get(command), b.commands.get(command))
            for command in dict.fromkeys((*a.commands, *b.commands))
        ],
        text=text_difference(a.text, b.text),
        is_exact=is_exact,
    )


def took_ms(call: Call) -> int | None:
    """Return the duration of a call by the agent's clock, or by the arrival times; None if unknown."""
    return call.seen_duration_ms if call.duration_ms is None else call.duration_ms


def _aspects(a: Side, b: Side, step: Step) -> tuple[Aspect, ...]:
    """Return what differs in two calls. A value that one recording does not contain is not a difference."""
    if step.a is None or step.b is None or step.match is Match.REPLACED:
        return ()
    of_a, of_b = step.a + 1, step.b + 1
    first, second = a.session.calls[of_a - 1], b.session.calls[of_b - 1]
    found = []
    if first.outcome is not second.outcome and Outcome.RETURNED not in (first.outcome, second.outcome):
        found.append(Aspect.OUTCOME)
    if _differ(first.exit_code, second.exit_code):
        found.append(Aspect.EXIT_CODE)
    if _is_slower(took_ms(first), took_ms(second)):
        found.append(Aspect.DURATION)
    if _differ(first.lines_added, second.lines_added) or _differ(first.lines_removed, second.lines_removed):
        found.append(Aspect.LINES)
    if _verdicts_differ(a.verdicts.get(of_a), b.verdicts.get(of_b)):
        found.append(Aspect.VERDICT)
    return tuple(found)


def _differ(first: int | None, second: int | None) -> bool:
    return first is not None and second is not None and first != second


def _is_slower(first: int | None, second: int | None) -> bool:
    if first is None or second is None:
        return False
    shorter, longer = sorted((first, second))
    return longer - shorter >= SLOWER_MS and longer >= SLOWER * shorter


def _verdicts_differ(first: Verdict | None, second: Verdict | None) -> bool:
    if first is None or second is None:
        return False
    return _result(first) != _result(second)


def _result(verdict: Verdict) -> tuple[bool, bool, int, int]:
    return verdict.is_red, verdict.is_green, verdict.counts.failed, verdict.counts.errors
