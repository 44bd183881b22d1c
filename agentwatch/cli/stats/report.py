"""The statistics as a text of a given width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from agentwatch.cli.stats.tables import Table, facts
from agentwatch.cli.stats.words import UNKNOWN, amount, cost, count, duration, percent
from agentwatch.session_index.statistics import Chosen, Statistics
from agentwatch.session_index.statistics.calls import LEAST, Failures
from agentwatch.session_index.statistics.sums import Sums
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line, wrapped
from agentwatch.text.times import date_and_minute

_MOST_COLUMNS = 100
"""On a wider terminal, the numbers would be far away from their names."""
_MOST_ROWS = 10


def report(found: Statistics, width: int) -> Iterator[SafeText]:
    """Yield the lines of the report.

    Args:
        found: The statistics.
        width: The width of the terminal, in columns.
    """
    sums = found.of_sessions.sums
    width = min(width, _MOST_COLUMNS)
    if not sums.sessions + sums.subagents:
        yield SafeText(f"no sessions{_choice(found.chosen)}")
        return
    yield cut(_title(found), width)
    yield SafeText("")
    yield from facts(list(_facts(found)), width)
    for table in _tables(found):
        if table.rows:
            yield SafeText("")
            yield from table.lines(width)
    yield SafeText("")
    rates = "Rates are of the calls that succeeded or failed."
    yield from wrapped(
        SafeText(f"Tools and commands with fewer than {LEAST} calls are left out. {rates}"), width
    )


def _title(found: Statistics) -> SafeText:
    """Return the title: the number of sessions, and the options that select them."""
    sums, unreadable = found.of_sessions.sums, found.of_sessions.unreadable
    words = [f"{_counted(sums.sessions, 'session')}{_choice(found.chosen)}"]
    if sums.subagents:
        words.append(_counted(sums.subagents, "subagent"))
    if unreadable:
        words.append(f"{count(unreadable)} cannot be read")
    return SafeText(", ".join(words))


def _choice(chosen: Chosen) -> SafeText:
    """Return the selection of sessions in words; empty for all sessions."""
    words = []
    if chosen.agents:
        words.append(f" of {', '.join(sorted(chosen.agents))}")
    if chosen.repository:
        words.append(f" in {chosen.repository}")
    if chosen.since_ms is not None:
        words.append(f" since {date_and_minute(chosen.since_ms)}")
    return safe_line("".join(words))


def _facts(found: Statistics) -> Iterator[tuple[str, str]]:
    """Yield the sums over all sessions."""
    of_sessions = found.of_sessions
    sums = of_sessions.sums
    yield "ended", _numbered(of_sessions.outcomes)
    yield "tests", _numbered(of_sessions.tests)
    yield "time", _known(duration(sums.active_ms), sums.active_sessions, sums)
    calls = [count(sums.calls), f"{count(sums.failed)} failed", f"{count(sums.rejected)} rejected"]
    yield "calls", ", ".join(calls)
    tokens = f"{amount(sums.input_tokens)} in ({amount(sums.cached_tokens)} cached), "
    tokens += f"{amount(sums.output_tokens)} out"
    is_unknown = sums.input_tokens is None and sums.output_tokens is None
    yield "tokens", UNKNOWN if is_unknown else _known(tokens, sums.token_sessions, sums)
    yield "cost", _known(cost(sums.cost_usd), sums.cost_sessions, sums)


def _known(words: str, known: int, sums: Sums) -> str:
    """Return a sum, with the number of its sessions unless it is over all sessions."""
    if words == UNKNOWN or known == sums.sessions:
        return words
    return f"{words} (of {count(known)} of {count(sums.sessions)} sessions)"


def _numbered(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count(number)} {name}" for name, number in counts.items()) or UNKNOWN


def _counted(number: int, noun: str) -> str:
    return plural(number, noun).replace(str(number), count(number), 1)


def _tables(found: Statistics) -> Iterator[Table]:
    of_sessions, of_calls = found.of_sessions, found.of_calls
    yield _sums("agents", of_sessions.agents)
    yield _sums("repositories", of_sessions.repositories)
    yield _failures("failures by tool", of_calls.tools)
    yield _failures("failures by command", of_calls.commands)
    yield Table(
        "slowest commands",
        ("median", "longest", "calls", "total"),
        [
            (
                row.name,
                (duration(row.median_ms), duration(row.max_ms), count(row.calls), duration(row.total_ms)),
            )
            for row in of_calls.slowest[:_MOST_ROWS]
        ],
    )
    yield Table(
        "files edited most",
        ("edits", "sessions", "+", "-"),
        [
            (
                f"{row.repository or UNKNOWN}: {row.file}",
                (count(row.edits), count(row.sessions), count(row.lines_added), count(row.lines_removed)),
            )
            for row in found.files[:_MOST_ROWS]
        ],
        are_paths=True,
    )
    yield Table(
        "verdicts",
        ("runs", "red", "red share", "nothing ran"),
        [
            (row.tool, (count(row.runs), count(row.red), percent(row.red_share), count(row.nothing)))
            for row in of_calls.verdicts[:_MOST_ROWS]
        ],
    )


def _sums(title: str, groups: Mapping[str | None, Sums] | Mapping[str, Sums]) -> Table:
    rows = [
        (
            name or UNKNOWN,
            (
                *(count(sums.sessions), duration(sums.active_ms), count(sums.calls), count(sums.failed)),
                *(cost(sums.cost_usd), amount(sums.input_tokens), amount(sums.output_tokens)),
            ),
        )
        for name, sums in [*groups.items()][:_MOST_ROWS]
    ]
    return Table(title, ("sessions", "time", "calls", "failed", "cost", "input", "output"), rows)


def _failures(title: str, found: Iterable[Failures]) -> Table:
    rows = [
        (row.name, (count(row.failed), count(row.calls), percent(row.rate))) for row in [*found][:_MOST_ROWS]
    ]
    return Table(title, ("failed", "calls", "rate"), rows)
