"""A report as one HTML file that loads nothing and has no script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby, islice
from pathlib import Path

from agentwatch.output.compare.comparison import Part, TextDifference
from agentwatch.output.compare.reports import (
    MARKS,
    PARTING,
    SAME,
    Gap,
    Report,
    Section,
    StepLine,
    Steps,
    Table,
)
from agentwatch.output.compare.reports import UNKNOWN as NOT_KNOWN
from agentwatch.output.export.html import page
from agentwatch.output.export.html.content import Node, element, escaped, markup
from agentwatch.output.export.html.page import head
from agentwatch.session.events import Outcome
from agentwatch.text import UNKNOWN
from agentwatch.text.amounts import plural
from agentwatch.text.safe import safe_line, safe_text
from agentwatch.text.signs import MINUS, SIGNS

_STYLE = Path(__file__).resolve().parent / "comparison.css"
_CLASSES = {Part.BOTH: "", Part.ONLY_A: "of-a", Part.ONLY_B: "of-b"}
_TONES = {
    **dict.fromkeys(("succeeded", "green"), Outcome.SUCCEEDED),
    **dict.fromkeys(("failed", "red"), Outcome.FAILED),
}
"""The outcome whose sign and colour a word in a table has."""
_NEGATIVE = re.compile(r"-(?=[$0-9])")
_ALONE = ("only in A", "only in B")
_STEPS = '<table class="steps"><tbody>\n'
_LEAST_FOLDED = 3
"""Fewer calls that only one run made are not folded."""
_MOST_FOLDED = 500
"""The calls of one fold, until their number is known."""


def page_pieces(report: Report, notes: Iterable[str] = ()) -> Iterator[bytes]:
    title = safe_line(report.title)
    yield head(title, "", style()).encode()
    sides = "".join(
        f"<li><strong>{escaped(letter)}</strong> {escaped(safe_line(name))}</li>"
        for letter, name in report.sides
    )
    scope = "".join(f'<p class="scope">{escaped(safe_line(note))}</p>' for note in notes)
    yield (
        f'<header id="top" role="banner"><h1>{escaped(title)}</h1>'
        f'<ul class="facts" aria-label="Runs">{sides}</ul>{scope}</header>\n<main id="main">\n'
    ).encode()
    for section in sorted(report.sections, key=lambda each: each.heading != PARTING):
        yield f"<section><h2>{escaped(section.heading)}</h2>\n".encode()
        for piece in _content(section):
            yield piece.encode()
        yield b"</section>\n"
    yield b"</main>\n</body>\n</html>\n"


@cache
def style() -> str:
    """Return the stylesheet: the colours and fonts of an exported session, and the tables of a comparison."""
    return f"{page.stylesheet('page')}\n{_STYLE.read_text(encoding='utf-8')}"


def _content(section: Section) -> Iterator[str]:
    match section.content:
        case Table(columns, rows):
            is_numeric = columns[0] in ("", "file")
            name = "figures numbers" if is_numeric else "figures"
            yield from _table(
                name, columns, (_row("", (safe_text(row[0]), *map(_cell, row[1:]))) for row in rows)
            )
        case list(lines):
            yield markup(element("p", "", safe_text(line)) for line in lines)
        case Steps(lines_of):
            yield from _steps(lines_of())
        case TextDifference(pieces, is_cut):
            yield markup([element("div", "words", *(_piece(part, words) for part, words in pieces))])
            if is_cut:
                yield markup([element("p", "note", "Only the beginning of the texts is compared.")])


def _table(name: str, columns: Iterable[str], rows: Iterable[Node]) -> Iterator[str]:
    """Yield a table row by row: that of two long runs has 100,000 rows."""
    cells = markup(element("th", "", safe_text(column)) for column in columns)
    yield f'<table class="{name}"><thead><tr>{cells}</tr></thead><tbody>\n'
    for row in rows:
        yield f"{markup([row])}\n"
    yield "</tbody></table>\n"


def _row(name: str, cells: Iterable[Node]) -> Node:
    return element("tr", name, *(element("td", "", cell) for cell in cells))


def _cell(cell: str) -> Node:
    tone = _TONES.get(cell.partition(":")[0])
    if tone is not None:
        return element("span", str(tone), safe_text(f"{SIGNS[tone]} {cell}"))
    if cell in (SAME, NOT_KNOWN):
        return element("span", "note", SAME if cell == SAME else UNKNOWN)
    return safe_text(MINUS + cell[1:] if _NEGATIVE.match(cell) else cell)


# The calls: those that only one run made are folded. A fold is an element of its own between two tables.


def _steps(steps: Iterable[StepLine | Gap]) -> Iterator[str]:
    *head, end = _table("steps", ("", "A", "B"), ())
    yield from head
    for word, some in groupby(steps, key=lambda step: "" if isinstance(step, Gap) else step.word):
        while group := [*islice(some, _MOST_FOLDED if word in _ALONE else 1)]:
            rows = "".join(f"{markup([_step(step)])}\n" for step in group)
            if len(group) < _LEAST_FOLDED:
                yield rows
                continue
            summary = markup([element("summary", "", safe_text(_fold_words(group)))])
            yield f'{end}<details class="fold">{summary}\n{_STEPS}{rows}{end}</details>\n{_STEPS}'
    yield end


def _fold_words(group: Sequence[StepLine | Gap]) -> str:
    """Return what is folded: `- 5 calls only in A, #1 to #5, 2 failed`."""
    steps = [step for step in group if isinstance(step, StepLine)]
    first, last = steps[0], steps[-1]
    words = [f"{first.sign} {len(steps):,} calls {first.word}, {first.a or first.b} to {last.a or last.b}"]
    for outcome in (Outcome.FAILED, Outcome.REJECTED):
        count = sum(outcome in step.outcomes for step in steps)
        words += [f"{count:,} {outcome}"] if count else []
    return ", ".join(words)


def _step(step: StepLine | Gap) -> Node:
    if isinstance(step, Gap):
        return _row("gap", ("", f"… {plural(step.calls, 'equal call')}", ""))
    word = element("span", "word", safe_text(f"{step.sign} {step.word}"))
    lines = ([line[3:]] for line in step.lines) if step.sign == "!" else (step.lines[:1], step.lines)
    sides = zip((step.a, step.b), step.outcomes, lines, strict=True)
    name = step.word.lower().replace(" in ", "-").replace(" ", "-")
    return _row(name, (word, *(_side(*side) if side[0] else "" for side in sides)))


def _side(number: str, outcome: str, lines: Sequence[str]) -> Node:
    head = element("span", outcome, f"{SIGNS[outcome]} {number}") if outcome else safe_text(number)
    return element("div", "side", head, *(element("div", "", safe_text(line)) for line in lines))


def _piece(part: Part, words: str) -> Node:
    begin, end = MARKS[part]  # for readers who do not see the colours
    return element("span", _CLASSES[part], safe_text(f"{begin}{words}{end}")) if begin else safe_text(words)
