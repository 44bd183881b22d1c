"""The report on two runs: totals first, then where they part, then the differences in order."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.analysis.verdict_history import CommandVerdict
from agentwatch.comparing.alignment import Match
from agentwatch.comparing.comparison import MOST_CALLS, Comparison
from agentwatch.comparing.reports.figures import (
    COUNT,
    FIGURES,
    SAME,
    UNKNOWN,
    difference,
    lines_words,
    shown,
)
from agentwatch.comparing.reports.report import Notes, Report, Section, Steps, Table
from agentwatch.comparing.reports.steps import step_line, step_lines
from agentwatch.comparing.side import Side
from agentwatch.text.amounts import plural

TITLE = "Comparison of two runs"


def report_of(comparison: Comparison, *, every: bool = False) -> Report:
    """Return the report on two runs.

    Args:
        comparison: The comparison.
        every: Whether equal calls are listed too.
    """
    return Report(
        TITLE,
        [("A", named(comparison.a)), ("B", named(comparison.b))],
        [*_sections(comparison, every=every)],
    )


def named(side: Side) -> str:
    """Return what the user calls a run, its agent and its model."""
    session = side.session
    return " · ".join(filter(None, (side.name, session.agent_name or session.format, session.run.model)))


def count_words(comparison: Comparison) -> str:
    """Return the number of differences of each kind: `12 calls are the same, 2 only in A, 1 moved`."""
    counts, changed, retimed = comparison.counts(), comparison.changed(), comparison.retimed()
    same = counts[Match.EQUAL] - changed - retimed
    kinds = (
        (changed, "with another result"),
        (retimed, "in another time"),
        (counts[Match.REPLACED], "with another target"),
        (counts[Match.MOVED], "at another place"),
        (counts[Match.ONLY_A], "only in A"),
        (counts[Match.ONLY_B], "only in B"),
    )
    are = "is" if same == 1 else "are"
    return ", ".join(
        (f"{plural(same, 'call')} {are} the same", *(f"{count:,} {words}" for count, words in kinds if count))
    )


def _sections(comparison: Comparison, *, every: bool) -> Iterator[Section]:
    yield Section("Totals", _totals(comparison))
    yield Section("Where they part", Notes(tuple(_divergence(comparison))))
    if every or comparison.differences():
        yield Section("Calls", Steps(lambda: step_lines(comparison, every=every)))
    if comparison.files:
        rows = [(row.path, lines_words(row.a), lines_words(row.b)) for row in comparison.files]
        yield Section("Changed files", Table(("file", "A", "B"), rows))
    if comparison.commands:
        verdicts = [(row.command, _verdict(row.a), _verdict(row.b)) for row in comparison.commands]
        yield Section("Last verdicts", Table(("command", "A", "B"), verdicts))
    if not comparison.text.is_equal:
        yield Section("Final text", comparison.text)
    elif comparison.text.pieces:
        yield Section("Final text", Notes(("Both have the same words.",)))


def _totals(comparison: Comparison) -> Table:
    a, b = comparison.a.totals, comparison.b.totals
    outcomes = [UNKNOWN if outcome is None else str(outcome) for outcome in (a.outcome, b.outcome)]
    tests = [UNKNOWN if state is None else str(state) for state in (a.tests, b.tests)]
    rows = [("outcome", *outcomes, _same(outcomes)), ("tests", *tests, _same(tests))]
    for figure in FIGURES:
        first, second = figure.value(a), figure.value(b)
        rows.append(
            (figure.name, shown(first, figure), shown(second, figure), difference(first, second, figure))
        )
    for kind in sorted({*comparison.a.by_tool, *comparison.b.by_tool}):
        counts = comparison.a.by_tool[kind], comparison.b.by_tool[kind]
        rows.append(
            (f"{kind} calls", shown(counts[0], COUNT), shown(counts[1], COUNT), difference(*counts, COUNT))
        )
    return Table(("", "A", "B", "difference"), rows)


def _divergence(comparison: Comparison) -> Iterator[str]:
    """Yield where the runs part, how many calls differ in which way, and how reliable that is."""
    index, slower = comparison.first_divergence, ", in other times" if comparison.retimed() else ""
    if index is None:
        yield f"They do not part: both made the same calls with the same results{slower}."
    else:
        line = step_line(comparison, comparison.rows[index])
        equal = "at the first call" if index == 0 else f"after {plural(index, 'call')} in common"
        where = " and ".join(f"{side}{number}" for side, number in (("A", line.a), ("B", line.b)) if number)
        yield f"They part {equal}: {where} ({line.word})."
        yield from line.lines
    yield f"{count_words(comparison)}."
    if not comparison.is_exact:
        yield "The runs are long and repetitive, so their calls are aligned approximately."
    for side, count in zip("AB", comparison.left_out, strict=True):
        if count:
            yield f"{side} has {plural(count, 'call')} after the first {MOST_CALLS:,}; they are not aligned."


def _verdict(found: CommandVerdict | None) -> str:
    """Return the last verdict of a command in words: `red: 3 failed`; `-` if it did not run."""
    if found is None:
        return UNKNOWN
    return str(found.state) if found.verdict is None else f"{found.state}: {found.verdict.words}"


def _same(words: list[str]) -> str:
    return UNKNOWN if UNKNOWN in words else SAME if words[0] == words[1] else ""
