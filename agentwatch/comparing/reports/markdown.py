"""A report as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentwatch.comparing.reports.report import Gap, Notes, Report, Section, StepLine, Steps, Table
from agentwatch.comparing.reports.text import marked
from agentwatch.comparing.texts import TextDifference
from agentwatch.exports.markdown.bodies import Bounds, fenced
from agentwatch.exports.markdown.escapes import escaped
from agentwatch.text.amounts import plural
from agentwatch.text.safe import cut, safe_line, safe_text, wrapped

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
            lines = map(_step, section.content.lines())
            parts[index] += _limited(lines, room - _size(_STEPS_HEAD), _STEPS_HEAD)
    for part in (head, *parts.values()):
        yield "\n".join((*part, "")).encode()


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {escaped(section.heading)}", "")
    match section.content:
        case Table(columns, rows):
            head = (_row(map(_cell, columns)), _row(["---"] * len(columns)))
            yield from _limited((_row(map(_cell, row)) for row in rows), _MOST_TABLE_BYTES, head)
        case Notes(lines):
            yield from (f"{_cell(line)}  " for line in lines)
        case TextDifference():
            yield from _text(section.content)


def _limited(lines: Iterable[str], room: int, head: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table as far as they fit into a number of bytes, then how many do not."""
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


def _step(step: StepLine | Gap) -> str:
    if isinstance(step, Gap):
        return _row(("", "", "", f"*{plural(step.calls, 'equal call')}*"))
    return _row((step.word, step.a[1:], step.b[1:], "<br>".join(map(_cell, step.lines))))


def _text(difference: TextDifference) -> Iterator[str]:
    """Yield the texts as a block of code, in which `[-one-]{+two+}` marks the words of one of them."""
    yield from ("`[-only in A-]` `{+only in B+}`", "")
    lines = safe_text(marked(difference)).split("\n")
    text = "\n".join(piece for line in lines for piece in wrapped(safe_line(line), _TEXT_COLUMNS))
    blocks = ([*fenced(text, bounds=bounds)] for bounds in _TEXT_BOUNDS)
    yield from next((block for block in blocks if _size(block) <= _MOST_TEXT_BYTES), ())
    if difference.is_cut:
        yield from ("", "*Only the beginning of the texts is compared.*")


def _cell(text: str) -> str:
    return escaped(cut(safe_line(text), _CELL_COLUMNS))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
