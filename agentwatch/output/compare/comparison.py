"""Compares two runs by calls, or several runs a side by medians. An unknown value is None, never 0."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from statistics import median
from typing import NamedTuple

from agentwatch.analysis.files import TouchedFile, TouchedFiles
from agentwatch.analysis.verdict_history import CommandVerdict, State, call_verdict, final_verdicts
from agentwatch.analysis.verdicts import Verdict
from agentwatch.feed.feed import Feed
from agentwatch.output.compare.alignment import (
    Match,
    Step,
    aligned,
    keys_of,
    levelled,
    levelled_path,
    matching,
)
from agentwatch.output.summary import final_answer
from agentwatch.session.call import Call
from agentwatch.session.counts import known_sum
from agentwatch.session.events import Outcome, Tokens
from agentwatch.session.session import Session, calls_by_outcome, own_calls

# One side.

_AT_ONCE = 500
"""The calls that are read at a time, by all that reads them: each is unpacked once, which takes 4 µs."""
_MOST = 10**12
"""A larger number of tokens, milliseconds or lines is not plausible."""


class Lines(NamedTuple):
    added: int | None
    removed: int | None


class Totals(NamedTuple):
    """The figures of one run. None means that the recording does not contain the figure."""

    outcome: Outcome | None
    duration_ms: int | None
    turns: int
    calls: int
    failed: int
    rejected: int
    unfinished: int
    input: int | None
    cached: int | None
    output: int | None
    cost_usd: float | None
    files: int
    lines_added: int | None
    lines_removed: int | None
    tests: State | None
    """The state of the tests, linters and builds at the end; None if no command has a verdict."""


@dataclass(frozen=True, slots=True)
class Side:
    name: str
    feed: Feed
    totals: Totals
    by_tool: Counter[str]
    files: dict[str, Lines]
    verdicts: dict[int, Verdict]
    """The verdicts of calls, by the number of the call."""
    commands: dict[str, CommandVerdict]
    """The last verdict of each command, by its levelled words; the command that ran last is first."""
    text: str

    @property
    def session(self) -> Session:
        return self.feed.session


def side_of(name: str, feed: Feed) -> Side:
    """Return a run as it is compared. Reading an output again takes 0.1 ms. `feed` is at its end."""
    session, final = feed.session, final_verdicts(feed)
    commands = {levelled(each.command, session.run.cwd): each for each in reversed(final.commands)}
    commands = dict(reversed(commands.items()))
    touched = TouchedFiles(session)
    by_tool, verdicts = Counter[str](), dict[int, Verdict]()
    for first in range(0, len(session.calls), _AT_ONCE):
        some = session.calls[first : first + _AT_ONCE]
        by_tool.update(str(call.kind) for call in some)
        for call in session.ended_calls[first : first + _AT_ONCE]:
            if (verdict := call_verdict(feed, call)) is not None:
                verdicts[call.number] = verdict
        touched.update(_AT_ONCE)
    files = _lines_by_path(file for file in touched.by_name() if file.is_changed)
    totals = _totals(session, files.values(), final.state if final.commands else None)
    return Side(name, feed, totals, by_tool, files, verdicts, commands, final_answer(session))


def _totals(session: Session, files: Iterable[Lines], tests: State | None) -> Totals:
    outcomes = calls_by_outcome(session)
    tokens = session.tokens
    lines = [*files]
    return Totals(
        outcome=session.outcome,
        duration_ms=_count(session.duration_ms),
        turns=session.turns,
        calls=own_calls(session),
        failed=outcomes.get(Outcome.FAILED, 0),
        rejected=outcomes.get(Outcome.REJECTED, 0),
        unfinished=outcomes.get(Outcome.UNFINISHED, 0),
        input=_count(tokens.input),
        cached=_count(tokens.cached),
        output=_count(tokens.output),
        cost_usd=_cost(tokens),
        files=len(lines),
        lines_added=_sum(each.added for each in lines),
        lines_removed=_sum(each.removed for each in lines),
        tests=tests,
    )


def _lines_by_path(changed: Iterable[TouchedFile]) -> dict[str, Lines]:
    """Return the lines of each file; temporary files with random names count as one file."""
    files: dict[str, Lines] = {}
    for file in changed:
        path = levelled_path(file.shown)
        before = files.get(path, Lines(None, None))
        files[path] = Lines(
            _sum((before.added, file.lines_added)), _sum((before.removed, file.lines_removed))
        )
    return files


def _cost(tokens: Tokens) -> float | None:
    cost = tokens.cost_usd
    return cost if cost is not None and isfinite(cost) and 0 <= cost < _MOST else None


def _count(number: int | None) -> int | None:
    """Return a count; None if it is negative or implausible, as in a hostile recording."""
    return number if number is not None and 0 <= number < _MOST else None


def _sum(numbers: Iterable[int | None]) -> int | None:
    return _count(known_sum(numbers))


# Texts.

MOST_CHARACTERS = 1 << 16
"""The characters of each text that are compared. The final answers of real sessions have under 10,000."""
_MOST_STEPS = 2_000_000
"""Comparisons of words by difflib: 0.2 s. Two texts of 2,000 words need fewer than 1,000,000."""
_WORD = re.compile(r"(?:\w+|[^\w\s])\s*|\s+")


class Part(StrEnum):
    BOTH = "both"
    ONLY_A = "only_a"
    ONLY_B = "only_b"


class Piece(NamedTuple):
    part: Part
    text: str
    """Foreign text. A piece of both texts has the spaces of the second text."""


class TextDifference(NamedTuple):
    """Two texts as one sequence of pieces."""

    pieces: list[Piece]
    is_cut: bool
    """Whether only the first 65,536 characters of a text were compared."""

    @property
    def is_equal(self) -> bool:
        """Whether the compared parts have the same words."""
        return all(piece.part is Part.BOTH for piece in self.pieces)


def text_difference(a: str, b: str) -> TextDifference:
    """Return the difference of two texts; spaces and line ends are not compared.

    Two texts of 10,000 characters take 30 ms, two hostile ones at most 1.3 s.

    Example:
        >>> found = text_difference("two tests pass", "all tests pass")
        >>> [(piece.part.value, piece.text) for piece in found.pieces]
        [('only_a', 'two '), ('only_b', 'all '), ('both', 'tests pass')]
    """
    is_cut = max(len(a), len(b)) > MOST_CHARACTERS
    words_a, words_b = (_WORD.findall(text[:MOST_CHARACTERS]) for text in (a, b))
    found = matching([word.strip() for word in words_a], [word.strip() for word in words_b], _MOST_STEPS)
    pieces: list[Piece] = []
    for piece in _pieces(words_a, words_b, found.pairs):
        if pieces and pieces[-1].part is piece.part:
            pieces[-1] = Piece(piece.part, pieces[-1].text + piece.text)
        elif piece.text:
            pieces.append(piece)
    return TextDifference(pieces, is_cut)


def _pieces(a: list[str], b: list[str], pairs: list[tuple[int, int]]) -> Iterator[Piece]:
    """Yield the pieces; consecutive ones of the same part are joined by the caller."""
    next_a = next_b = both = 0
    for at, other in (*pairs, (len(a), len(b))):
        if at > next_a or other > next_b:
            yield Piece(Part.BOTH, "".join(b[both:next_b]))
            yield Piece(Part.ONLY_A, "".join(a[next_a:at]))
            yield Piece(Part.ONLY_B, "".join(b[next_b:other]))
            both = other
        next_a, next_b = at + 1, other + 1
    yield Piece(Part.BOTH, "".join(b[both:]))


MOST_CALLS = 100_000
"""The first calls of each run are aligned, which takes 1.5 s. Later ones count only in the totals."""
_SLOWER = 2
"""A duration differs if it is at least this many times the other,"""
_SLOWER_MS = 1000
"""and at least this many milliseconds longer."""


class Aspect(StrEnum):
    OUTCOME = "outcome"
    EXIT_CODE = "exit_code"
    DURATION = "duration"
    LINES = "lines"
    VERDICT = "verdict"
    """Red or green, or the number of failed tests."""


class Row(NamedTuple):
    """A call of one run, or a pair of matching calls."""

    match: Match
    a: int | None
    b: int | None
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
    path: str
    a: Lines | None
    b: Lines | None


class CommandRow(NamedTuple):
    command: str
    a: CommandVerdict | None
    b: CommandVerdict | None


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
    commands: list[CommandRow]
    """The command that ran last is first; then the commands that only the second run has."""
    text: TextDifference
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
        return Counter(row.match for row in self.rows)

    def changed(self) -> int:
        """Return the number of equal calls with other results."""
        return sum(1 for row in self.rows if row.match is Match.EQUAL and row.parts)

    def retimed(self) -> int:
        """Return the number of equal calls with the same results, in other times."""
        return sum(1 for row in self.rows if row.match is Match.EQUAL and row.aspects and not row.parts)

    def calls(self, row: Row) -> tuple[Call | None, Call | None]:
        return (
            None if row.a is None else self.a.session.calls[row.a - 1],
            None if row.b is None else self.b.session.calls[row.b - 1],
        )


def compare(a: Side, b: Side) -> Comparison:
    """Compare two runs. Two runs of 10,000 calls take 0.7 s. The time is linear in the number of calls."""
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
    if _differ(_result(a.verdicts.get(of_a)), _result(b.verdicts.get(of_b))):
        found.append(Aspect.VERDICT)
    return tuple(found)


def _differ(first: object, second: object) -> bool:
    return first is not None and second is not None and first != second


def _is_slower(first: int | None, second: int | None) -> bool:
    if first is None or second is None:
        return False
    shorter, longer = sorted((first, second))
    return longer - shorter >= _SLOWER_MS and longer >= _SLOWER * shorter


def _result(verdict: Verdict | None) -> tuple[bool, bool, int, int] | None:
    return verdict and (verdict.is_red, verdict.is_green, verdict.counts.failed, verdict.counts.errors)


# Several runs a side.

_FEW = 10
"""With fewer runs a side, a difference of medians may be due to chance."""
MOST_HABITS = 20
_MOST_KEYS = 100_000
"""The limit for the different calls of all runs that are counted."""


class Spread(NamedTuple):
    """A figure over several runs; only runs whose recording contains it count."""

    known: int
    median: float | None
    least: float | None
    most: float | None


class Share(NamedTuple):
    """The number of runs of each side for which a statement is true."""

    name: str
    a: int
    known_a: int
    b: int
    known_b: int


class Habit(NamedTuple):
    """A call that more runs of one side make."""

    tool: str
    target: str
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Several:
    a: Sequence[Side]
    b: Sequence[Side]
    shares: list[Share]
    habits: list[Habit]
    """At most 20 habits; the call whose shares differ most is first."""

    @property
    def is_few(self) -> bool:
        return min(len(self.a), len(self.b)) < _FEW


def compare_several(a: Sequence[Side], b: Sequence[Side]) -> Several:
    """Compare several runs a side. The time is linear in the number of all calls."""
    shares = [
        Share("succeeded", *_succeeded(a), *_succeeded(b)),
        Share("tests green", *_green(a), *_green(b)),
    ]
    return Several(a, b, shares, _habits(a, b))


def spread(values: Iterable[float | None]) -> Spread:
    """Return the median and the range of the known values.

    Example:
        >>> spread([3, None, 1, 2])
        Spread(known=3, median=2, least=1, most=3)
    """
    known = [value for value in values if value is not None]
    if not known:
        return Spread(0, None, None, None)
    return Spread(len(known), median(known), min(known), max(known))


def _succeeded(sides: Sequence[Side]) -> tuple[int, int]:
    known = [side.totals.outcome for side in sides if side.totals.outcome is not None]
    return known.count(Outcome.SUCCEEDED), len(known)


def _green(sides: Sequence[Side]) -> tuple[int, int]:
    known = [side.totals.tests for side in sides if side.totals.tests is not None]
    return known.count(State.GREEN), len(known)


def _habits(a: Sequence[Side], b: Sequence[Side]) -> list[Habit]:
    """Return the calls that different shares of the runs made, the largest difference first."""
    runs_a, runs_b = _runs_by_key(a), _runs_by_key(b)

    def differs(key: tuple[str, str]) -> float:
        return abs(runs_a[key] / len(a) - runs_b[key] / len(b))

    keys = [key for key in dict.fromkeys((*runs_a, *runs_b)) if differs(key)]
    keys.sort(key=differs, reverse=True)
    return [Habit(*key, runs_a[key], runs_b[key]) for key in keys[:MOST_HABITS]]


def _runs_by_key(sides: Sequence[Side]) -> Counter[tuple[str, str]]:
    """Return for each call, by tool and levelled target, the number of runs that made it."""
    counts: Counter[tuple[str, str]] = Counter()
    for side in sides:
        for key in dict.fromkeys((key.tool, key.target) for key in keys_of(side.session, MOST_CALLS)):
            if key in counts or len(counts) < _MOST_KEYS:
                counts[key] += 1
    return counts
