"""One of the compared runs: its calls, its verdicts and its totals. What is unknown is None, never 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from agentwatch.analysis.files import TouchedFile, TouchedFiles
from agentwatch.analysis.time import TimeBreakdown
from agentwatch.analysis.verdict_history import CommandVerdict, State, call_verdict, final_verdicts
from agentwatch.analysis.verdicts import Verdict
from agentwatch.comparing.keys import levelled, levelled_path
from agentwatch.events import Outcome, Tokens
from agentwatch.feed import Feed
from agentwatch.outputs.final import final_answer
from agentwatch.session import Call, Session, calls_by_outcome
from agentwatch.session.usage_counts import added, known_sum

_AT_ONCE = 500
"""The calls that are read at a time, by all that reads them: each is unpacked once, which takes 4 µs."""
_MOST = 10**12
"""A larger number of tokens, milliseconds or lines is not plausible."""


class Lines(NamedTuple):
    """The lines that were added and removed; None if unknown."""

    added: int | None
    removed: int | None


class Totals(NamedTuple):
    """The figures of one run. None means that the recording does not contain the figure."""

    outcome: Outcome | None
    duration_ms: int | None
    """The duration without the time between runs and turns."""
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
    """The number of files that calls changed. What shell commands change is unknown."""
    lines_added: int | None
    lines_removed: int | None
    tests: State | None
    """The state of the tests, linters and builds at the end; None if no command has a verdict."""


@dataclass(frozen=True, slots=True)
class Side:
    """A run as it is compared."""

    name: str
    """The name of the recording, as the user typed it. Foreign text."""
    feed: Feed
    """The feed, which has read the recording to its end. It also reads the details of calls."""
    totals: Totals
    by_tool: Counter[str]
    """The number of calls of each kind of tool."""
    files: dict[str, Lines]
    """The changed files by their path, relative to the working directory; in the order of their paths."""
    verdicts: dict[int, Verdict]
    """The verdicts of calls, by the number of the call."""
    commands: dict[str, CommandVerdict]
    """The last verdict of each command, by its levelled words; the command that ran last is first."""
    text: str
    """The final answer; empty without one."""

    @property
    def session(self) -> Session:
        """The session at its end."""
        return self.feed.session


def side_of(name: str, feed: Feed) -> Side:
    """Return a run as it is compared.

    This reads the outputs of commands again, for the verdicts: 0.1 ms each.

    Args:
        name: The name of the recording, as the user typed it.
        feed: A feed that has read the recording to its end.
    """
    session, final = feed.session, final_verdicts(feed)
    commands = {levelled(each.command, session.run.cwd): each for each in reversed(final.commands)}
    commands = dict(reversed(commands.items()))
    breakdown, touched = TimeBreakdown(session), TouchedFiles(session)
    by_tool, verdicts = Counter[str](), dict[int, Verdict]()
    for first in range(0, max(len(session.transcript), len(session.calls)), _AT_ONCE):
        some = session.calls[first : first + _AT_ONCE]
        by_tool.update(str(call.kind) for call in some)
        verdicts.update(_verdicts(feed, session.ended_calls[first : first + _AT_ONCE]))
        breakdown.update(_AT_ONCE)
        touched.update(_AT_ONCE)
    files = _lines_by_path(file for file in touched.by_name() if file.is_changed)
    duration_ms = _count(breakdown.account().whole_ms) or None
    totals = _totals(session, duration_ms, files.values(), final.state if final.commands else None)
    return Side(name, feed, totals, by_tool, files, verdicts, commands, final_answer(session))


def _totals(session: Session, duration_ms: int | None, files: Iterable[Lines], tests: State | None) -> Totals:
    outcomes = calls_by_outcome(session)
    tokens = added(run.tokens for run in session.runs)
    lines = [*files]
    return Totals(
        outcome=session.outcome,
        duration_ms=duration_ms,
        turns=sum(run.turns for run in session.runs),
        calls=len(session.calls),
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


def _verdicts(feed: Feed, calls: Iterable[Call]) -> Iterator[tuple[int, Verdict]]:
    """Yield the numbers of calls that have a verdict, with it."""
    for call in calls:
        if (verdict := call_verdict(feed, call)) is not None:
            yield call.number, verdict


def _cost(tokens: Tokens) -> float | None:
    cost = tokens.cost_usd
    return cost if cost is not None and isfinite(cost) and 0 <= cost < _MOST else None


def _count(number: int | None) -> int | None:
    """Return a count; None if it is negative or implausible, as in a hostile recording."""
    return number if number is not None and 0 <= number < _MOST else None


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Return the sum of the known numbers; None if none is known."""
    return _count(known_sum(numbers))
