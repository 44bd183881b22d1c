"""Failures, durations and verdicts of the calls of the chosen sessions."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from agentwatch.events import Outcome
from agentwatch.session_index.statistics.totals import total

LEAST = 3
"""Tools and commands with fewer calls are left out: their rates would mean little."""
_CALLS = "FROM temp.chosen CROSS JOIN stored_call ON stored_call.session = chosen.id"
"""Reads the calls session by session, in the order in which they are stored."""
_COUNTED = f"SELECT tool, command, outcome {_CALLS}"
_TIMED = (
    f"SELECT command, duration_ms {_CALLS} "
    "WHERE command IS NOT NULL AND duration_ms IS NOT NULL AND outcome <> ?"
)
_JUDGED = f"SELECT verdict_tool, verdict, count(*) {_CALLS} WHERE verdict IS NOT NULL GROUP BY 1, 2"


class Failures(NamedTuple):
    """The failures of a tool or a command."""

    name: str
    calls: int
    failed: int
    rejected: int
    rate: float
    """The share of failed calls among those that succeeded or failed."""


class Durations(NamedTuple):
    """The durations of the calls of a command, by the agent's clock, in milliseconds."""

    name: str
    calls: int
    median_ms: float
    max_ms: int
    total_ms: float


class Verdicts(NamedTuple):
    """The verdicts of one tool: a test runner, a linter or a build."""

    tool: str
    runs: int
    red: int
    green: int
    nothing: int
    """The runs in which no test ran."""
    red_share: float | None
    """The share of red runs among the red and green ones; None if there is no such run."""


class CallFacts(NamedTuple):
    """The calls of the chosen sessions."""

    tools: list[Failures]
    """The tool with the most failed calls is first; tools without failed calls are left out."""
    commands: list[Failures]
    slowest: list[Durations]
    """The command with the longest median is first."""
    verdicts: list[Verdicts]
    """The tool with the most runs is first."""


def call_facts(connection: sqlite3.Connection, most: int) -> CallFacts:
    """Return the statistics of the calls of the chosen sessions.

    Args:
        connection: The database.
        most: The length of each list.
    """
    counted = Counter(connection.execute(_COUNTED))
    tools: dict[str, Counter[str]] = {}
    commands: dict[str, Counter[str]] = {}
    for (tool, command, outcome), calls in counted.items():
        tools.setdefault(tool, Counter())[outcome] += calls
        if command is not None:
            commands.setdefault(command, Counter())[outcome] += calls
    return CallFacts(
        _failures(tools)[:most],
        _failures(commands)[:most],
        _slowest(connection.execute(_TIMED, (Outcome.REJECTED,)))[:most],
        _verdicts(connection.execute(_JUDGED))[:most],
    )


def _failures(found: dict[str, Counter[str]]) -> list[Failures]:
    rows = []
    for name, outcomes in found.items():
        failed, calls = outcomes[Outcome.FAILED], outcomes.total()
        if failed and calls >= LEAST:
            rate = failed / (failed + outcomes[Outcome.SUCCEEDED])
            rows.append(Failures(name, calls, failed, outcomes[Outcome.REJECTED], rate))
    return sorted(rows, key=lambda row: (-row.failed, row.calls, row.name))


def _slowest(found: Iterable[tuple[str, int]]) -> list[Durations]:
    durations: dict[str, array[int]] = {}
    for command, duration_ms in found:
        if (of_command := durations.get(command)) is None:
            of_command = durations[command] = array("q")
        of_command.append(duration_ms)
    rows = [
        Durations(name, len(each), median(each), max(each), total(each) or 0)
        for name, each in durations.items()
        if len(each) >= LEAST
    ]
    return sorted(rows, key=lambda row: (-row.median_ms, -row.total_ms, row.name))


def _verdicts(found: Iterable[tuple[str, str, int]]) -> list[Verdicts]:
    tools: dict[str, Counter[str]] = {}
    for tool, verdict, runs in found:
        tools.setdefault(tool, Counter())[verdict] += runs
    rows = []
    for tool, counts in tools.items():
        red, green = counts["red"], counts["green"]
        share = red / (red + green) if red + green else None
        rows.append(Verdicts(tool, counts.total(), red, green, counts["none"], share))
    return sorted(rows, key=lambda row: (-row.runs, row.tool))
