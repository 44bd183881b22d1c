"""A report as one HTML file that loads nothing and has no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from agentwatch.output.compare.comparison import Part, TextDifference
from agentwatch.output.compare.reports import Gap, Notes, Report, Section, StepLine, Steps, Table
from agentwatch.output.export.html import page
from agentwatch.output.export.html.content import Node, element, escaped, markup, text
from agentwatch.output.export.html.page import head
from agentwatch.text.amounts import plural
from agentwatch.text.safe import safe_line

_STYLE = Path(__file__).resolve().parent / "comparison.css"
_CLASSES = {Part.BOTH: "", Part.ONLY_A: "removed", Part.ONLY_B: "added"}
_MARKS = {Part.BOTH: ("", ""), Part.ONLY_A: ("[-", "-]"), Part.ONLY_B: ("{+", "+}")}
"""The words for readers who do not see the colours."""


def page_pieces(report: Report, notes: Iterable[str] = ()) -> Iterator[bytes]:
    """Yield a report as a page.

    Args:
        report: The report.
        notes: What was masked, or that nothing was.
    """
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
    for section in report.sections:
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
            yield from _table("figures", columns, (_row("", map(text, row)) for row in rows))
        case Notes(lines):
            yield markup(element("p", "", text(line)) for line in lines)
        case Steps(lines_of):
            yield from _table("steps", ("", "A", "B", "call"), map(_step, lines_of()))
        case TextDifference(pieces, is_cut):
            yield markup([element("div", "words", *(_piece(part, words) for part, words in pieces))])
            if is_cut:
                yield markup([element("p", "note", "Only the beginning of the texts is compared.")])


def _table(name: str, columns: Iterable[str], rows: Iterable[Node]) -> Iterator[str]:
    """Yield a table row by row: that of two long runs has 100,000 rows."""
    cells = markup(element("th", "", text(column)) for column in columns)
    yield f'<table class="{name}"><thead><tr>{cells}</tr></thead><tbody>\n'
    for row in rows:
        yield f"{markup([row])}\n"
    yield "</tbody></table>\n"


def _row(name: str, cells: Iterable[Node]) -> Node:
    return element("tr", name, *(element("td", "", cell) for cell in cells))


def _step(step: StepLine | Gap) -> Node:
    if isinstance(step, Gap):
        return _row("gap", ("", "", "", f"… {plural(step.calls, 'equal call')}"))
    lines: list[Node] = []
    for line in step.lines:
        lines += [element("br", "")] if lines else []
        lines.append(text(line))
    word = element("span", "word", text(f"{step.sign} {step.word}"))
    name = step.word.lower().replace(" in ", "-").replace(" ", "-")
    return element("tr", name, *(element("td", "", *cell) for cell in ([word], [step.a], [step.b], lines)))


def _piece(part: Part, words: str) -> Node:
    begin, end = _MARKS[part]
    return element("span", _CLASSES[part], text(f"{begin}{words}{end}")) if begin else text(words)
