"""A report as text for a terminal, in at most 80 columns where the words allow it."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.comparing.reports.report import Gap, Notes, Report, StepLine, Steps, Table
from agentwatch.comparing.texts import Part, TextDifference
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, safe_line, safe_text, wrapped

WIDTH = 80
_LEAST_NAME = 12
_STEP_COLUMNS = 18
"""The columns before the words of a call: sign, number in each run."""
_MARKS = {Part.BOTH: ("", ""), Part.ONLY_A: ("[-", "-]"), Part.ONLY_B: ("{+", "+}")}


def text_lines(report: Report) -> Iterator[SafeText]:
    """Yield the lines of a report."""
    for letter, name in report.sides:
        yield from _wrapped(f"{letter}  {name}", 3)
    for section in report.sections:
        yield SafeText("")
        yield SafeText(section.heading)
        match section.content:
            case Table():
                yield from _table(section.content)
            case Notes():
                for line in section.content.lines:
                    yield from _wrapped(line, 2, first=2)
            case Steps():
                for step in section.content.lines():
                    yield from _step(step)
            case TextDifference():
                yield from _words(section.content)


def marked(difference: TextDifference) -> str:
    """Return two texts as one, in which the words of one of them are marked: `[-one-]{+two+}`.

    Example:
        >>> from agentwatch.comparing.texts import text_difference
        >>> marked(text_difference("two tests pass", "all tests pass"))
        '[-two-] {+all+} tests pass'
    """
    words = []
    for piece in difference.pieces:
        begin, end = _MARKS[piece.part]
        text = piece.text.rstrip()
        words.append(f"{begin}{text}{end}{piece.text[len(text) :]}" if text else piece.text)
    return "".join(words)


def _table(table: Table) -> Iterator[SafeText]:
    rows = [tuple(map(safe_line, row)) for row in (table.columns, *table.rows)]
    widths = [max(columns(row[at]) for row in rows) for at in range(len(table.columns))]
    left = WIDTH - 2 - sum(min(width, WIDTH // 3) + 2 for width in widths[1:])
    widths = [min(widths[0], max(left, _LEAST_NAME)), *(min(width, WIDTH // 3) for width in widths[1:])]
    for row in rows:
        cells = [_padded(cut(cell, width), width) for cell, width in zip(row, widths, strict=True)]
        yield SafeText(f"  {'  '.join(cells)}".rstrip())


def _step(step: StepLine | Gap) -> Iterator[SafeText]:
    if isinstance(step, Gap):
        yield SafeText(f"  … {plural(step.calls, 'equal call')}")
        return
    numbers = f"  {step.sign} {step.a or '-':<7}{step.b or '-':<7}"
    for nth, line in enumerate(step.lines):
        head = numbers if nth == 0 else ""
        for words in wrapped(safe_line(line), WIDTH - _STEP_COLUMNS):
            yield SafeText(f"{head:<{_STEP_COLUMNS}}{words}")
            head = ""


def _words(difference: TextDifference) -> Iterator[SafeText]:
    for line in safe_text(marked(difference)).split("\n"):
        yield from _wrapped(line, 2, first=2)
    if difference.is_cut:
        yield SafeText("  (only the beginning of the texts is compared)")


def _wrapped(line: str, indent: int, first: int = 0) -> Iterator[SafeText]:
    """Yield a line in several, all but the first one indented by `indent`, the first by `first`."""
    for nth, words in enumerate(wrapped(safe_line(line), WIDTH - max(indent, first))):
        yield SafeText(f"{' ' * (indent if nth else first)}{words}".rstrip())


def _padded(cell: SafeText, width: int) -> str:
    return cell + " " * (width - columns(cell))
