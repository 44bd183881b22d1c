"""The report on a comparison: its sections, of foreign texts, and their text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from agentwatch.analysis.verdict_history import CommandVerdict
from agentwatch.output.compare.alignment import Match
from agentwatch.output.compare.comparison import (
    MOST_CALLS,
    Aspect,
    Comparison,
    Lines,
    Part,
    Row,
    Several,
    Side,
    Spread,
    TextDifference,
    Totals,
    spread,
    took_ms,
)
from agentwatch.output.export.markdown import Bounds, escaped, fenced
from agentwatch.output.summary import call_members, command_members
from agentwatch.session.actions import action, outcome_note, shown_action, target
from agentwatch.session.call import Call
from agentwatch.text.amounts import dollars, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, exact_text, safe_line, styled, wrapped
from agentwatch.text.safe_json import encoded


class Table(NamedTuple):
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class StepLine(NamedTuple):
    sign: str
    """A character: `=`, `~`, `>`, `!`, `-` or `+`."""
    word: str
    """The meaning of the sign: `only in A`."""
    a: str
    b: str
    lines: tuple[str, ...]
    """The call, and below it what went differently."""
    outcomes: tuple[str, str] = ("", "")
    """How the calls ended in both runs, such as `succeeded`; empty for a run without the call."""


class Gap(NamedTuple):
    """Equal calls that are not listed."""

    calls: int


class Steps(NamedTuple):
    """The calls side by side. They are made when they are written: two long runs have 200,000 of them."""

    lines: Callable[[], Iterator[StepLine | Gap]]


class Section(NamedTuple):
    heading: str
    content: Table | list[str] | Steps | TextDifference
    """A list has sentences, one per line."""


class Report(NamedTuple):
    title: str
    sides: list[tuple[str, str]]
    """The letter of each side, and the names of its recordings with what ran."""
    sections: list[Section]
    addresses: tuple[str, str] = ("", "")
    """The addresses of A and B, with which a call is opened; empty for what can be read only once."""


# Text, in at most 80 columns where the words allow it.

WIDTH = 80
WHOLE = 1 << 20
"""The width of a report for a program: no line is wrapped, and no cell is cut."""
_LEAST_NAME = 12
_STEP_COLUMNS = 18
"""The columns before the words of a call: sign, number in each run."""
MARKS = {Part.BOTH: ("", ""), Part.ONLY_A: ("[-", "-]"), Part.ONLY_B: ("{+", "+}")}


def text_lines(report: Report, width: int = WIDTH) -> Iterator[SafeText]:
    for letter, name in report.sides:
        yield from _wrapped(f"{letter}  {name}", width, 3)
    for section in report.sections:
        yield SafeText("")
        yield styled((SafeText(section.heading), "heading"))
        match section.content:
            case Table():
                yield from _table(section.content, width)
            case list(lines):
                for line in lines:
                    yield from _wrapped(line, width, 2, first=2)
            case Steps():
                for step in section.content.lines():
                    yield from _step(step, width, report.addresses)
            case TextDifference():
                yield from _word_changes(section.content, width)


def marked(difference: TextDifference) -> str:
    """Return two texts as one, in which the words of one of them are marked: `[-one-]{+two+}`.

    Example:
        >>> from agentwatch.output.compare.comparison import text_difference
        >>> marked(text_difference("two tests pass", "all tests pass"))
        '[-two-] {+all+} tests pass'
    """
    words = []
    for piece in difference.pieces:
        begin, end = MARKS[piece.part]
        text = piece.text.rstrip()
        words.append(f"{begin}{text}{end}{piece.text[len(text) :]}" if text else piece.text)
    return "".join(words)


def _table(table: Table, width: int) -> Iterator[SafeText]:
    rows = [tuple(map(safe_line, row)) for row in (table.columns, *table.rows)]
    widths = [max(columns(row[at]) for row in rows) for at in range(len(table.columns))]
    left = width - 2 - sum(min(each, width // 3) + 2 for each in widths[1:])
    widths = [min(widths[0], max(left, _LEAST_NAME)), *(min(each, width // 3) for each in widths[1:])]
    for nth, row in enumerate(rows):
        cells = [(cut(cell, room), room) for cell, room in zip(row, widths, strict=True)]
        words = "  ".join(cell + " " * (room - columns(cell)) for cell, room in cells)
        yield styled((SafeText(f"  {words}".rstrip()), "" if nth else "muted"))


def _step(step: StepLine | Gap, width: int, addresses: tuple[str, str]) -> Iterator[SafeText]:
    if isinstance(step, Gap):
        yield styled((SafeText(f"  … {plural(step.calls, 'equal call')}"), "muted"))
        return
    of_a, of_b = (outcome if outcome != "succeeded" else "muted" for outcome in step.outcomes)
    head = [
        (SafeText(f"  {step.sign} "), "muted"),
        (SafeText(f"{step.a or '-':<7}"), of_a or "muted"),
        (SafeText(f"{step.b or '-':<7}"), of_b or "muted"),
    ]
    for line in step.lines:
        for words in wrapped(safe_line(line), width - _STEP_COLUMNS):
            yield styled(*head, (words, "muted" if step.sign == "=" else ""))
            head = [(SafeText(" " * _STEP_COLUMNS), "")]
    if step.sign != "=":
        for words in _addresses(step, width - _STEP_COLUMNS, addresses):
            yield styled(*head, (words, "muted"))


def _addresses(step: StepLine, width: int, addresses: tuple[str, str]) -> list[SafeText]:
    """Return the addresses of the calls, on one line if they fit. An address is not wrapped: it is copied."""
    calls = zip(addresses, (step.a, step.b), strict=True)
    found = [safe_line(f"{address}{number}") for address, number in calls if address and number]
    line = SafeText("  ".join(found))
    return found if columns(line) > width or not found else [line]


def _word_changes(difference: TextDifference, width: int) -> Iterator[SafeText]:
    for line in exact_text(marked(difference)).split("\n"):
        yield from _wrapped(line, width, 2, first=2)
    if difference.is_cut:
        yield SafeText("  (only the beginning of the texts is compared)")


def _wrapped(line: str, width: int, indent: int, first: int = 0) -> Iterator[SafeText]:
    """Yield a line in several, all but the first one indented by `indent`, the first by `first`."""
    for nth, words in enumerate(wrapped(safe_line(line), width - max(indent, first))):
        yield SafeText(f"{' ' * (indent if nth else first)}{words}".rstrip())


# JSON. What is unknown is null.

_ROWS_AT_ONCE = 500


def json_pieces(comparison: Comparison, *, every: bool = False) -> Iterator[bytes]:
    """Yield a comparison of two runs as one JSON object; with `every`, `rows` has the equal calls too."""
    divergence = comparison.first_divergence
    left_out, counts = comparison.left_out, comparison.counts()
    yield encoded(
        {
            "version": 1,
            "a": _side_members(comparison.a),
            "b": _side_members(comparison.b),
            "counts": {
                "same": sum(1 for row in comparison.rows if row.is_equal),
                "other_result": comparison.changed(),
                "other_time": comparison.retimed(),
                **{match.value: counts[match] for match in Match if match is not Match.EQUAL},
            },
            "exact": comparison.is_exact,
            "left_out": {"a": left_out[0], "b": left_out[1]},
            "first_divergence": None
            if divergence is None
            else _row_members(comparison, divergence, comparison.rows[divergence]),
        }
    )[:-1]
    yield b',"rows":['
    wanted = range(len(comparison.rows)) if every else comparison.differences()
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        some = wanted[start : start + _ROWS_AT_ONCE]
        rows = [_row_members(comparison, index, comparison.rows[index]) for index in some]
        yield (b"," if start else b"") + encoded(rows)[1:-1]
    yield b"],"
    yield encoded(
        {
            "files": [
                {"path": row.path, "a": row.a and row.a._asdict(), "b": row.b and row.b._asdict()}
                for row in comparison.files
            ],
            "commands": [
                {
                    "command": row.command,
                    "a": row.a and command_members(row.a),
                    "b": row.b and command_members(row.b),
                }
                for row in comparison.commands
            ],
            "text": {
                "equal": comparison.text.is_equal,
                "cut": comparison.text.is_cut,
                "pieces": [{"in": piece.part, "text": piece.text} for piece in comparison.text.pieces],
            },
        }
    )[1:]


def _side_members(side: Side) -> dict[str, Any]:
    run, session = side.session.run, side.session
    return {
        "name": side.name,
        "format": run.format or session.format,
        "session_id": run.session_id,
        "model": run.model,
        "cwd": run.cwd,
        **side.totals._asdict(),
        "by_tool": dict(sorted(side.by_tool.items())),
    }


def _row_members(comparison: Comparison, index: int, row: Row) -> dict[str, Any]:
    a, b = comparison.calls(row)
    return {
        "index": index,
        "match": row.match,
        "differs_in": list(row.aspects),
        "a": _call(comparison.a, a),
        "b": _call(comparison.b, b),
    }


def _call(side: Side, call: Call | None) -> dict[str, Any] | None:
    if call is None:
        return None
    verdict = side.verdicts.get(call.number)
    return {**call_members(call), "verdict": verdict and verdict.words}


# Figures. What is unknown is `-`.

UNKNOWN = "-"
SAME = "="


class Figure(NamedTuple):
    name: str
    value: Callable[[Totals], float | None]
    words: Callable[[float], str]


def _count(number: float) -> str:
    """Return a count; the median of counts may end in `.5`."""
    return f"{number:,.1f}".removesuffix(".0")


_FIGURES = (
    Figure("duration", lambda totals: totals.duration_ms, duration_words),
    Figure("turns", lambda totals: totals.turns, _count),
    Figure("calls", lambda totals: totals.calls, _count),
    Figure("failed", lambda totals: totals.failed, _count),
    Figure("rejected", lambda totals: totals.rejected, _count),
    Figure("unfinished", lambda totals: totals.unfinished, _count),
    Figure("tokens in", lambda totals: totals.input, _count),
    Figure("from cache", lambda totals: totals.cached, _count),
    Figure("tokens out", lambda totals: totals.output, _count),
    Figure("cost", lambda totals: totals.cost_usd, dollars),
    Figure("files changed", lambda totals: totals.files, _count),
    Figure("lines added", lambda totals: totals.lines_added, _count),
    Figure("lines removed", lambda totals: totals.lines_removed, _count),
)
_COUNT = Figure("", lambda _totals: None, _count)


def shown(value: float | None, figure: Figure) -> str:
    """Return a figure in words.

    Example:
        >>> shown(1234, _FIGURES[2]), shown(None, _FIGURES[2])
        ('1,234', '-')
    """
    return UNKNOWN if value is None else figure.words(value)


def difference(a: float | None, b: float | None, figure: Figure) -> str:
    """Return the difference from the first figure to the second, with its sign.

    Example:
        >>> difference(3, 5, _FIGURES[2]), difference(5, 5, _FIGURES[2]), difference(None, 5, _FIGURES[2])
        ('+2', '=', '-')
    """
    if a is None or b is None:
        return UNKNOWN
    if a == b:
        return SAME
    return f"{'+' if b > a else '-'}{figure.words(abs(b - a))}"


def _lines_words(lines: Lines | None, minus: str = "-") -> str:
    """Return the changed lines of a file: `+3 -1`; `changed` if their numbers are unknown."""
    if lines is None:
        return UNKNOWN
    words = [
        f"{sign}{number:,}"
        for sign, number in (("+", lines.added), (minus, lines.removed))
        if number is not None
    ]
    return " ".join(words) or "changed"


# Calls.

CONTEXT = 1
"""The equal calls that are listed before and after a difference."""
_SIGNS = {
    Match.MOVED: (">", "moved"),
    Match.REPLACED: ("!", "other target"),
    Match.ONLY_A: ("-", "only in A"),
    Match.ONLY_B: ("+", "only in B"),
}


def step_lines(comparison: Comparison, *, every: bool, minus: str = "-") -> Iterator[StepLine | Gap]:
    """Yield the differences with the calls around them, or with all equal calls (`every`)."""
    listed = range(len(comparison.rows)) if every else _with_context(comparison)
    end = 0
    for index in (*listed, len(comparison.rows)):
        if index > end:
            yield Gap(index - end)
        if index < len(comparison.rows):
            yield _step_line(comparison, comparison.rows[index], minus)
        end = index + 1


def _step_line(comparison: Comparison, row: Row, minus: str) -> StepLine:
    sign, word = _SIGNS.get(row.match) or _equal_sign(row)
    number_a, number_b = (f"#{number}" if number is not None else "" for number in (row.a, row.b))
    a, b = ("" if call is None else str(call.outcome) for call in comparison.calls(row))
    lines = tuple(_step_lines(comparison, row, minus))
    return StepLine(sign, word, number_a, number_b, lines, (a, b))


def _equal_sign(row: Row) -> tuple[str, str]:
    if row.is_equal:
        return "=", "same"
    return "~", "other result" if row.parts else "other time"


def _step_lines(comparison: Comparison, row: Row, minus: str) -> Iterator[str]:
    a, b = comparison.calls(row)
    line = action if minus == "-" else shown_action
    if row.match is Match.REPLACED and a is not None and b is not None:
        yield f"A: {line(a)}"
        yield f"B: {line(b)}"
    elif a is not None and b is not None and row.aspects:
        yield f"{safe_line(b.phrase)} {target(b)}".rstrip()
        sides = (comparison.a, a), (comparison.b, b)
        yield "; ".join(_aspect(aspect, minus, *sides) for aspect in row.aspects)
    elif (call := b or a) is not None:
        yield line(call)


def _aspect(aspect: Aspect, minus: str, *calls: tuple[Side, Call]) -> SafeText:
    """Return what differs: `exit 0 → 1`, `20 passed → 3 failed, 17 passed`, `1.2 s → 9.0 s`."""
    match aspect:
        case Aspect.OUTCOME:
            words = [outcome_note(call) or str(call.outcome) for _, call in calls]
            words = words if words[0] != words[1] else [str(call.outcome) for _, call in calls]
        case Aspect.EXIT_CODE:
            words = [f"exit {call.exit_code}" for _, call in calls]
        case Aspect.DURATION:
            times = [took_ms(call) for _, call in calls]
            words = [UNKNOWN if time is None else duration_words(time) for time in times]
        case Aspect.LINES:
            words = [_lines_words(Lines(call.lines_added, call.lines_removed), minus) for _, call in calls]
        case Aspect.VERDICT:
            words = [side.verdicts[call.number].words for side, call in calls]
    return safe_line(" → ".join(words))


def _with_context(comparison: Comparison) -> Iterator[int]:
    end = 0
    for index in comparison.differences():
        last = min(index + CONTEXT + 1, len(comparison.rows))
        yield from range(max(end, index - CONTEXT), last)
        end = max(end, last)


# Two runs: totals first, then the first divergence, then the differences in order.

_TITLE = "Comparison of two runs"
PARTING = "Where they part"


def report_of(
    comparison: Comparison, a: str = "", b: str = "", *, every: bool = False, minus: str = "-"
) -> Report:
    """Return the report on two runs. `a` and `b` are their addresses, or empty. `every` lists equal calls
    too. `minus` is the sign of removed lines."""
    return Report(
        _TITLE,
        [("A", named(comparison.a)), ("B", named(comparison.b))],
        [*_sections(comparison, every=every, minus=minus)],
        (a, b),
    )


def named(side: Side) -> str:
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


def _sections(comparison: Comparison, *, every: bool, minus: str) -> Iterator[Section]:
    yield Section("Totals", _totals(comparison))
    yield Section(PARTING, [*_divergence(comparison, minus)])
    if every or comparison.differences():
        yield Section("Calls", Steps(lambda: step_lines(comparison, every=every, minus=minus)))
    if comparison.files:
        rows = [
            (row.path, _lines_words(row.a, minus), _lines_words(row.b, minus)) for row in comparison.files
        ]
        yield Section("Changed files", Table(("file", "A", "B"), rows))
    if comparison.commands:
        verdicts = [(row.command, _verdict(row.a), _verdict(row.b)) for row in comparison.commands]
        yield Section("Last verdicts", Table(("command", "A", "B"), verdicts))
    if not comparison.text.is_equal:
        yield Section("Final text", comparison.text)
    elif comparison.text.pieces:
        yield Section("Final text", ["Both have the same words."])


def _totals(comparison: Comparison) -> Table:
    a, b = comparison.a.totals, comparison.b.totals
    outcomes = [UNKNOWN if outcome is None else str(outcome) for outcome in (a.outcome, b.outcome)]
    tests = [UNKNOWN if state is None else str(state) for state in (a.tests, b.tests)]
    rows = [("outcome", *outcomes, _same(outcomes)), ("tests", *tests, _same(tests))]
    for figure in _FIGURES:
        first, second = figure.value(a), figure.value(b)
        rows.append(
            (figure.name, shown(first, figure), shown(second, figure), difference(first, second, figure))
        )
    for kind in sorted({*comparison.a.by_tool, *comparison.b.by_tool}):
        counts = comparison.a.by_tool[kind], comparison.b.by_tool[kind]
        rows.append(
            (f"{kind} calls", shown(counts[0], _COUNT), shown(counts[1], _COUNT), difference(*counts, _COUNT))
        )
    return Table(("", "A", "B", "difference"), rows)


def _divergence(comparison: Comparison, minus: str) -> Iterator[str]:
    """Yield where the runs part, how many calls differ in which way, and how reliable that is."""
    index, slower = comparison.first_divergence, ", in other times" if comparison.retimed() else ""
    if index is None:
        yield f"They do not part: both made the same calls with the same results{slower}."
    else:
        line = _step_line(comparison, comparison.rows[index], minus)
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


# Several runs a side.

_SEVERAL_TITLE = "Comparison of several runs"


def several_report(several: Several) -> Report:
    a, b = several.a, several.b
    sides = [
        (f"{letter}{nth}", named(side))
        for letter, each in (("A", a), ("B", b))
        for nth, side in enumerate(each, 1)
    ]
    return Report(_SEVERAL_TITLE, sides, [*_sections_of_several(several)])


def several_json(several: Several) -> bytes:
    a, b = several.a, several.b
    return encoded(
        {
            "version": 1,
            "a": [_side_members(side) for side in a],
            "b": [_side_members(side) for side in b],
            "figures": {
                name: {"a": _spread_of(a, name)._asdict(), "b": _spread_of(b, name)._asdict()}
                for name in Totals._fields
                if name not in ("outcome", "tests")
            },
            "by_tool": {
                kind: {
                    side: spread(_counts_of_several(each, kind))._asdict()
                    for side, each in (("a", a), ("b", b))
                }
                for kind in _kinds(several)
            },
            "shares": [share._asdict() for share in several.shares],
            "habits": [habit._asdict() for habit in several.habits],
            "few": several.is_few,
        }
    )


def _sections_of_several(several: Several) -> Iterator[Section]:
    a, b = several.a, several.b
    rows: list[tuple[str, ...]] = [
        (share.name, _of(share.a, share.known_a), _of(share.b, share.known_b), "") for share in several.shares
    ]
    rows += (
        _row(figure.name, figure, [[figure.value(side.totals) for side in each] for each in (a, b)])
        for figure in _FIGURES
    )
    rows += (
        _row(f"{kind} calls", _COUNT, [_counts_of_several(each, kind) for each in (a, b)])
        for kind in _kinds(several)
    )
    columns = ("", f"A, {plural(len(a), 'run')}", f"B, {plural(len(b), 'run')}", "difference")
    yield Section("Medians and ranges", Table(columns, rows))
    notes = ["A figure is over the runs whose recording contains it; (2) is their number if not all do."]
    if several.is_few:
        notes.append("A side has fewer than 10 runs, so a difference may be chance.")
    yield Section("How to read it", notes)
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


def _counts_of_several(sides: Sequence[Side], kind: str) -> list[float | None]:
    return [side.by_tool[kind] for side in sides]


def _spread_of(sides: Sequence[Side], name: str) -> Spread:
    values: list[Any] = [getattr(side.totals, name) for side in sides]
    return spread(values)


# Markdown, for a comment on a pull request.

MOST_BYTES = 60_000
"""GitHub refuses a comment of over 65,536 characters."""
_MOST_TABLE_BYTES = 12_000
_MOST_TEXT_BYTES = 16_000
_TEXT_BOUNDS = (Bounds(100, 20, 400), Bounds(40, 10, 400), Bounds(10, 5, 400), Bounds(3, 0, 400))
_CELL_COLUMNS = 200
_TEXT_COLUMNS = 100
_MOST_SIDES = 24
_STEPS_HEAD = ("| | A | B | call |", "|---|---|---|---|")
_NOTE_BYTES = 100
"""The room for the line that says how much is left out."""


def markdown_pieces(report: Report) -> Iterator[bytes]:
    """Yield a report as a Markdown document of at most 60,000 bytes; it says what is left out."""
    head = [f"# {escaped(report.title)}", ""]
    head += [f"- **{letter}**: {_cell(name)}" for letter, name in report.sides[:_MOST_SIDES]]
    parts = {index: [*_section(section)] for index, section in enumerate(report.sections)}
    room = MOST_BYTES - _size(head) - sum(map(_size, parts.values()))
    for index, section in enumerate(report.sections):
        if isinstance(section.content, Steps):  # last, because they take all the room that is left
            lines = map(_markdown_step, section.content.lines())
            parts[index] += _limited(lines, room - _size(_STEPS_HEAD), _STEPS_HEAD)
    for part in (head, *parts.values()):
        yield "\n".join((*part, "")).encode()


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {escaped(section.heading)}", "")
    match section.content:
        case Table(columns, rows):
            head = (_markdown_row(map(_cell, columns)), _markdown_row(["---"] * len(columns)))
            yield from _limited((_markdown_row(map(_cell, row)) for row in rows), _MOST_TABLE_BYTES, head)
        case list(lines):
            yield from (f"{_cell(line)}  " for line in lines)
        case TextDifference():
            yield from _text(section.content)


def _limited(lines: Iterable[str], room: int, head: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table that fit into a number of bytes, then how many do not."""
    yield from head
    room -= _NOTE_BYTES
    left_out = 0
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            left_out += 1
        else:
            yield line
    if left_out:
        yield from ("", f"*{plural(left_out, 'more row')} left out: a comment has limited room.*")


def _markdown_step(step: StepLine | Gap) -> str:
    if isinstance(step, Gap):
        return _markdown_row(("", "", "", f"*{plural(step.calls, 'equal call')}*"))
    return _markdown_row((step.word, step.a[1:], step.b[1:], "<br>".join(map(_cell, step.lines))))


def _text(difference: TextDifference) -> Iterator[str]:
    """Yield the texts as a block of code, in which `[-one-]{+two+}` marks the words of one of them."""
    yield from ("`[-only in A-]` `{+only in B+}`", "")
    lines = exact_text(marked(difference)).split("\n")
    text = "\n".join(piece for line in lines for piece in wrapped(safe_line(line), _TEXT_COLUMNS))
    blocks = ([*fenced(text, bounds=bounds)] for bounds in _TEXT_BOUNDS)
    yield from next((block for block in blocks if _size(block) <= _MOST_TEXT_BYTES), ())
    if difference.is_cut:
        yield from ("", "*Only the beginning of the texts is compared.*")


def _cell(text: str) -> str:
    return escaped(cut(safe_line(text), _CELL_COLUMNS))


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
