"""The comparison of several runs a side: medians and ranges of figures, and shares of runs.

No difference is called significant. With fewer than ten runs a side, a difference may be chance; the report
has a note about that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from agentwatch.analysis.verdict_history import State
from agentwatch.comparing.comparison import MOST_CALLS
from agentwatch.comparing.keys import keys_of
from agentwatch.comparing.side import Side
from agentwatch.events import Outcome

FEW = 10
"""With fewer runs a side, a difference of medians may well be chance."""
MOST_HABITS = 20
_MOST_KEYS = 100_000
"""The limit for the different calls of all runs that are counted."""


class Spread(NamedTuple):
    """A figure over several runs; only runs whose recording contains it count."""

    known: int
    """The number of runs whose recording contains the figure."""
    median: float | None
    least: float | None
    most: float | None


class Share(NamedTuple):
    """The number of runs of each side for which a statement is true."""

    name: str
    a: int
    known_a: int
    """The number of runs for which this is known."""
    b: int
    known_b: int


class Habit(NamedTuple):
    """A call that more runs of one side make."""

    tool: str
    """The kind of the tool."""
    target: str
    """The levelled target. Foreign text."""
    a: int
    """The number of runs of the first side that made the call."""
    b: int
    """The number of runs of the second side that made the call."""


@dataclass(frozen=True, slots=True)
class Several:
    """Several runs a side."""

    a: Sequence[Side]
    b: Sequence[Side]
    shares: list[Share]
    habits: list[Habit]
    """At most 20; the call whose shares differ most is first."""

    @property
    def is_few(self) -> bool:
        """Whether a side has fewer than ten runs."""
        return min(len(self.a), len(self.b)) < FEW


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
