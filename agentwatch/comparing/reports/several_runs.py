"""The report on several runs a side, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentwatch.comparing.reports.figures import COUNT, FIGURES, UNKNOWN, Figure, difference, shown
from agentwatch.comparing.reports.members import encoded, side_members
from agentwatch.comparing.reports.report import Notes, Report, Section, Table
from agentwatch.comparing.reports.two_runs import named
from agentwatch.comparing.several import Several, Spread, spread
from agentwatch.comparing.side import Side, Totals
from agentwatch.text.amounts import plural

TITLE = "Comparison of several runs"


def several_report(several: Several) -> Report:
    """Return the report on several runs a side."""
    a, b = several.a, several.b
    sides = [
        (f"{letter}{nth}", named(side))
        for letter, each in (("A", a), ("B", b))
        for nth, side in enumerate(each, 1)
    ]
    return Report(TITLE, sides, [*_sections(several)])


def several_json(several: Several) -> bytes:
    """Return the comparison as one JSON object."""
    a, b = several.a, several.b
    return encoded(
        {
            "a": [side_members(side) for side in a],
            "b": [side_members(side) for side in b],
            "figures": {
                name: {"a": _spread_of(a, name)._asdict(), "b": _spread_of(b, name)._asdict()}
                for name in Totals._fields
                if name not in ("outcome", "tests")
            },
            "by_tool": {
                kind: {side: spread(_counts(each, kind))._asdict() for side, each in (("a", a), ("b", b))}
                for kind in _kinds(several)
            },
            "shares": [share._asdict() for share in several.shares],
            "habits": [habit._asdict() for habit in several.habits],
            "few": several.is_few,
        }
    )


def _sections(several: Several) -> Iterator[Section]:
    a, b = several.a, several.b
    rows: list[tuple[str, ...]] = [
        (share.name, _of(share.a, share.known_a), _of(share.b, share.known_b), "") for share in several.shares
    ]
    rows += (
        _row(figure.name, figure, [[figure.value(side.totals) for side in each] for each in (a, b)])
        for figure in FIGURES
    )
    rows += (
        _row(f"{kind} calls", COUNT, [_counts(each, kind) for each in (a, b)]) for kind in _kinds(several)
    )
    columns = ("", f"A, {plural(len(a), 'run')}", f"B, {plural(len(b), 'run')}", "difference")
    yield Section("Medians and ranges", Table(columns, rows))
    notes = ["A figure is over the runs whose recording contains it; (2) is their number if not all do."]
    if several.is_few:
        notes.append("A side has fewer than 10 runs, so a difference may be chance.")
    yield Section("How to read it", Notes(tuple(notes)))
    if several.habits:
        habits = [
            (f"{habit.tool} {habit.target}".rstrip(), _of(habit.a, len(a)), _of(habit.b, len(b)))
            for habit in several.habits
        ]
        yield Section("Calls that one side makes more often", Table(("call", "A", "B"), habits))


def _row(name: str, figure: Figure, values: Sequence[Sequence[float | None]]) -> tuple[str, ...]:
    a, b = map(spread, values)
    words = [_spread_words(each, len(all_), figure) for each, all_ in zip((a, b), values, strict=True)]
    return name, *words, difference(a.median, b.median, figure)


def _spread_words(found: Spread, runs: int, figure: Figure) -> str:
    """Return a median with its range: `5 (3–8)`; `5 (3–8) (2)` if only two runs contain the figure."""
    if found.median is None:
        return UNKNOWN
    words = shown(found.median, figure)
    if found.least != found.most:
        words += f" ({shown(found.least, figure)}–{shown(found.most, figure)})"
    return words if found.known == runs else f"{words} ({found.known})"


def _of(count: int, runs: int) -> str:
    return f"{count} of {runs}" if runs else UNKNOWN


def _kinds(several: Several) -> list[str]:
    return sorted({kind for side in (*several.a, *several.b) for kind in side.by_tool})


def _counts(sides: Sequence[Side], kind: str) -> list[float | None]:
    return [side.by_tool[kind] for side in sides]


def _spread_of(sides: Sequence[Side], name: str) -> Spread:
    values: list[Any] = [getattr(side.totals, name) for side in sides]
    return spread(values)
