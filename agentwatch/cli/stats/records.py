"""The statistics for other programs: one JSON object, or lines of CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from agentwatch.session_index.statistics import Statistics
from agentwatch.text.safe import SafeText, safe_line

CSV_HEADS = ("section", "repository", "name", "metric", "value")
_FORMULA = ("=", "+", "-", "@")
"""A cell that begins with one of these is a formula in a spreadsheet."""


def json_record(found: Statistics) -> dict[str, Any]:
    """Return the statistics as an object. Its keys are always the same; what is unknown is None."""
    chosen, of_sessions, of_calls = found.chosen, found.of_sessions, found.of_calls
    return {
        "version": 1,
        "since_ms": chosen.since_ms,
        "chosen_agents": sorted(chosen.agents),
        "chosen_repository": chosen.repository or None,
        "totals": {**of_sessions.sums._asdict(), "unreadable": of_sessions.unreadable},
        "outcomes": of_sessions.outcomes,
        "tests": of_sessions.tests,
        "agents": _named(of_sessions.agents),
        "repositories": _named(of_sessions.repositories),
        "tools": [row._asdict() for row in of_calls.tools],
        "commands": [row._asdict() for row in of_calls.commands],
        "slowest": [row._asdict() for row in of_calls.slowest],
        "files": [row._asdict() for row in found.files],
        "verdicts": [row._asdict() for row in of_calls.verdicts],
    }


def csv_lines(found: Statistics) -> Iterator[SafeText]:
    """Yield the statistics as lines of CSV: one value per line, with its section, its name and its metric.

    An unknown value is empty. A name that a spreadsheet would take for a formula begins with `'`.
    """
    yield _line(CSV_HEADS)
    record = json_record(found)
    for section in ("totals", "outcomes", "tests"):
        for metric, value in record[section].items():
            yield _line((section, "", "", metric, value))
    for section in ("agents", "repositories", "tools", "commands", "slowest", "files", "verdicts"):
        for row in record[section]:
            name = next(row.pop(key) for key in ("name", "file", "tool") if key in row)
            repository = row.pop("repository", "")
            for metric, value in row.items():
                yield _line((section, repository, name, metric, value))


def _named(groups: Mapping[Any, Any]) -> list[dict[str, Any]]:
    return [{"name": name, **sums._asdict()} for name, sums in groups.items()]


def _line(values: tuple[Any, ...]) -> SafeText:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_cell(value) for value in values])
    return SafeText(line.getvalue())


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    shown = safe_line(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
