"""The command `stats`, and the index of all sessions, which `sessions --index` brings up to date too."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import orjson

from agentwatch.analysis.prices import price_list
from agentwatch.base.extras import EXTRAS, install_command
from agentwatch.base.faults import USAGE, Fault
from agentwatch.catalog.kept_prices import keep
from agentwatch.catalog.statistics import (
    LEAST,
    By,
    Chosen,
    Cost,
    Failures,
    Statistics,
    Sums,
    costs,
    estimated,
    names,
    statistics,
)
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import printed_colour, since
from agentwatch.cli.sessions import with_index
from agentwatch.cli.stdout import print_json, print_lines, terminal_width
from agentwatch.rules.language.errors import nearest
from agentwatch.text.amounts import about_dollars, dollars, plural, short_count
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, fitted, safe_line, styled, wrapped
from agentwatch.text.times import date_and_minute

if TYPE_CHECKING:
    from agentwatch.catalog.index import SessionIndex, Updated

_OWN = "agentwatch"
"""The agent of our recordings in the list; in the index they have the recorded agent."""
_WIDTH = 80
"""The width of a terminal that does not say it."""
_WHOLE = 1 << 20
"""The width of a report that is not printed on a terminal: its names are whole."""
_MOST_NAMED = 12
_MOST_ROWS = 10
_GAP = 2
_LEAST_NAME = 18
"""The least columns for the names: with fewer, columns of numbers are left out at the right."""
_MOST_CHARACTERS = 4096
CSV_HEADS = ("section", "repository", "name", "metric", "value")
_FORMULA = ("=", "+", "-", "@")
"""A cell that begins with one of these is a formula in a spreadsheet."""
UNKNOWN = "-"
_LEAST_PERCENT = 0.05


@click.command(cls=HelpfulCommand)
@click.option(
    "--since",
    "since_ms",
    callback=since,
    metavar="TIME",
    help="Count only sessions with activity since then: 7d, 2026-11-01.",
)
@click.option(
    "--agent", "agents", multiple=True, metavar="NAME", help="Count only sessions of this agent: claude."
)
@click.option("--repo", default="", metavar="NAME", help="Count only sessions in this repository.")
@click.option(
    "--by",
    type=click.Choice(("day", "model", "repo", "agent")),
    help="Print tokens and cost by day, model, repository or agent.",
)
@click.option(
    "--output-format",
    type=click.Choice(("text", "json", "csv")),
    help="Format of the output (default: text).",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --output-format json.")
@printed_colour
def stats(
    since_ms: int | None,
    agents: tuple[str, ...],
    repo: str,
    by: str | None,
    output_format: str | None,
    *,
    as_json: bool,
) -> int:
    """Print statistics over all sessions on this machine.

    They are about time, cost, failures, slow commands, edited files and tests.
    """
    if as_json and output_format not in (None, "json"):
        raise click.UsageError(f"--json excludes --output-format {output_format}")
    chosen = Chosen(frozenset(name.casefold() for name in agents), repo, since_ms)
    grouped = None if by is None else By(by)

    def use(index: SessionIndex, _done: Updated) -> Statistics:
        for agent in sorted(chosen.agents):
            _check("--agent", agent, [name for name in names(index.connection, "agent") if name != _OWN])
        if chosen.repository:
            _check("--repo", chosen.repository, names(index.connection, "repository"))
        return statistics(index.connection, chosen)

    found = with_index("stats", use)
    keep()
    if as_json or output_format == "json":
        return print_json([orjson.dumps(json_record(found, grouped))])
    if output_format == "csv":
        return print_lines(csv_lines(found, grouped))
    return print_lines(report(found, grouped, terminal_width(_WIDTH) or _WHOLE))


def _check(option: str, name: str, known: Sequence[str]) -> None:
    folded = {each.casefold(): each for each in known}
    if name.casefold() in folded:
        return
    near = nearest(name, folded)
    more = " …" if len(known) > _MOST_NAMED else ""
    hint = f"; known: {', '.join(known[:_MOST_NAMED])}{more}" if known else ""
    hint = f"; did you mean {folded[near]}?" if near else hint
    raise Fault(f"{option}: no session has {name!r}{hint}", USAGE)


def report(found: Statistics, by: By | None, width: int) -> Iterator[SafeText]:
    """Yield the lines of the report; with `by`, only the costs by day, model, repository or agent."""
    sums = found.of_sessions.sums
    if not sums.sessions + sums.subagents:
        yield SafeText(f"no sessions{_choice(found.chosen)}")
        return
    yield styled((cut(_title(found), width), "strong"))
    yield SafeText("")
    if by is not None:
        yield from _costs(found, by).lines(width)
        yield SafeText("")
        yield from wrapped(safe_line(_price_note(found)[:_MOST_CHARACTERS]), width)
        return
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
    sums, unreadable = found.of_sessions.sums, found.of_sessions.unreadable
    words = [f"{plural(sums.sessions, 'session')}{_choice(found.chosen)}"]
    if sums.subagents:
        words.append(plural(sums.subagents, "subagent"))
    if unreadable:
        words.append(f"{count(unreadable)} cannot be read")
    return SafeText(", ".join(words))


def _choice(chosen: Chosen) -> SafeText:
    """Return the chosen agents and repository, in words; empty for all sessions."""
    words = []
    if chosen.agents:
        words.append(f" of {', '.join(sorted(chosen.agents))}")
    if chosen.repository:
        words.append(f" in {chosen.repository}")
    if chosen.since_ms is not None:
        words.append(f" since {date_and_minute(chosen.since_ms)}")
    return safe_line("".join(words))


def _facts(found: Statistics) -> Iterator[tuple[str, str]]:
    of_sessions = found.of_sessions
    sums = of_sessions.sums
    yield "ended", _numbered(of_sessions.outcomes)
    yield "tests", _numbered(of_sessions.tests)
    yield "active", _known(duration(sums.active_ms), sums.active_sessions, sums)
    calls = [count(sums.calls), f"{count(sums.failed)} failed", f"{count(sums.rejected)} rejected"]
    yield "calls", ", ".join(calls)
    tokens = f"{amount(sums.input_tokens)} in ({amount(sums.cached_tokens)} cached), "
    tokens += f"{amount(sums.output_tokens)} out"
    is_unknown = sums.input_tokens is None and sums.output_tokens is None
    yield "tokens", UNKNOWN if is_unknown else _known(tokens, sums.token_sessions, sums)
    yield "cost", _known(cost(sums.cost_usd), sums.cost_sessions, sums)
    if sums.cost_estimated_usd is not None:
        yield "", f"{estimate_words(sums.cost_estimated_usd)} where no cost is reported ({price_list()})"


def _known(words: str, known: int, sums: Sums) -> str:
    """Append the number of sessions to a sum that does not cover all of them."""
    if words == UNKNOWN or known == sums.sessions:
        return words
    return f"{words} (of {count(known)} of {count(sums.sessions)} sessions)"


def _numbered(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count(number)} {name}" for name, number in counts.items()) or UNKNOWN


def _tables(found: Statistics) -> Iterator[Table]:
    of_sessions, of_calls = found.of_sessions, found.of_calls
    yield _sums("agents", of_sessions.agents)
    yield _sums("repositories", of_sessions.repositories)
    yield _failures("failures by kind of call", of_calls.tools)
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
    is_estimated = any(sums.cost_estimated_usd is not None for sums in groups.values())
    heads = ("cost", "≈ cost")[: 1 + is_estimated]
    rows = [
        (
            name or UNKNOWN,
            (
                *(count(sums.sessions), duration(sums.active_ms), count(sums.calls), count(sums.failed)),
                *(cost(sums.cost_usd), estimate_words(sums.cost_estimated_usd))[: len(heads)],
                *(amount(sums.input_tokens), amount(sums.output_tokens)),
            ),
        )
        for name, sums in [*groups.items()][:_MOST_ROWS]
    ]
    return Table(title, ("sessions", "active", "calls", "failed", *heads, "input", "output"), rows)


def _costs(found: Statistics, by: By) -> Table:
    """Yield the rows of costs; the last row is their sum."""
    rows = costs(found.spent, by)
    sums = found.of_sessions.sums
    tokens = (sums.input_tokens, sums.cached_tokens, sums.output_tokens)
    every = Cost("all", sums.sessions + sums.subagents, *tokens, sums.cost_usd, sums.cost_estimated_usd, [])
    return Table(
        by.value,
        ("cost", "≈ cost", "input", "cached", "output", "sessions"),
        [
            (
                row.name or UNKNOWN,
                (
                    *(cost(row.cost_usd), estimate_words(row.cost_estimated_usd), amount(row.input_tokens)),
                    *(amount(row.cached_tokens), amount(row.output_tokens), count(row.sessions)),
                ),
            )
            for row in (*rows, every)
        ],
    )


def _price_note(found: Statistics) -> str:
    """Return what the estimates are based on, and what they leave out."""
    known = price_list()
    if known is None:
        return (
            f"The cost is what the agents report. To estimate the rest: {install_command(EXTRAS['prices'])}"
        )
    unpriced = sorted(estimated(found.spent).unpriced)
    note = f"≈ is the cost by the price list {known} where no cost is reported."
    return f"{note} It has no price for: {', '.join(unpriced)}." if unpriced else note


def _failures(title: str, found: Iterable[Failures]) -> Table:
    rows = [
        (row.name, (count(row.failed), count(row.calls), percent(row.rate))) for row in [*found][:_MOST_ROWS]
    ]
    return Table(title, ("failed", "calls", "rate"), rows)


class Table(NamedTuple):
    title: str
    heads: Sequence[str]
    """The headings of the columns of numbers, the most important first."""
    rows: Sequence[tuple[str, Sequence[str]]]
    """The name of each row, a foreign text, and its numbers."""
    are_paths: bool = False
    """Whether names are cut in the middle."""

    def lines(self, width: int) -> Iterator[SafeText]:
        """Yield a heading and the rows in at most `width` columns; names get what the longest one needs."""
        widths = [
            max(len(head), *(len(cells[at]) for _, cells in self.rows)) + _GAP
            for at, head in enumerate(self.heads)
        ]
        while len(widths) > 1 and width - sum(widths) < _LEAST_NAME:
            widths.pop()
        named = [safe_line(name[:_MOST_CHARACTERS]) for name, _ in ((self.title, ()), *self.rows)]
        name_width = max(min(width - sum(widths), max(map(columns, named))), 1)
        numbers_of = (self.heads, *(cells for _, cells in self.rows))
        for nth, (name, cells) in enumerate(zip(named, numbers_of, strict=True)):
            numbers = "".join(f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=False))
            shown = fitted(name, name_width, is_path=self.are_paths)
            yield styled((shown, "" if nth else "strong"), (SafeText(numbers), "" if nth else "muted"))


def facts(rows: Sequence[tuple[str, str]], width: int) -> Iterator[SafeText]:
    """Yield a line for each name with its value; a long value continues on further lines."""
    left = max(columns(safe_line(name)) for name, _ in rows) + _GAP
    for name, value in rows:
        lines = wrapped(safe_line(value[:_MOST_CHARACTERS]), max(width - left, 1))
        for at, line in enumerate(lines):
            yield styled((SafeText(f"{'' if at else name:{left}}"), "muted"), (line, ""))


def json_record(found: Statistics, by: By | None) -> dict[str, Any]:
    """Return the record, which always has the same keys; unknown values are None."""
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
        "by": by,
        "costs": [] if by is None else [row._asdict() for row in costs(found.spent, by)],
        "price_list": price_list(),
    }


def csv_lines(found: Statistics, by: By | None) -> Iterator[SafeText]:
    """Yield a value per line, with its section, name and metric; an unknown value is empty. A name that a
    spreadsheet would read as a formula begins with `'`."""
    yield _line(CSV_HEADS)
    record = json_record(found, by)
    for section in ("totals", "outcomes", "tests"):
        for metric, value in record[section].items():
            yield _line((section, "", "", metric, value))
    for section in ("agents", "repositories", "tools", "commands", "slowest", "files", "verdicts", "costs"):
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


def _or_unknown(words: Callable[[float], str]) -> Callable[[float | None], str]:
    return lambda number: UNKNOWN if number is None else words(number)


count = _or_unknown("{:,.0f}".format)
"""`1,204`."""
amount = _or_unknown(lambda number: short_count(round(number)))
"""`999`, `12k`, `1.2M`."""
duration = _or_unknown(duration_words)
"""`37 ms`, `9.8 s`, `2:13`, `31:02:13`."""
cost = _or_unknown(dollars)
"""`$12.40`."""
estimate_words = _or_unknown(about_dollars)
"""`≈ $12.40`."""


def percent(share: float | None) -> str:
    """Return a share in words: `7.4 %`, `38 %`; a share under 0.05 % is `<0.1 %`."""
    if share is None:
        return UNKNOWN
    value = 100 * share
    if 0 < value < _LEAST_PERCENT:
        return "<0.1 %"
    return f"{value:.1f} %" if 0 < value < 9.95 else f"{value:.0f} %"
