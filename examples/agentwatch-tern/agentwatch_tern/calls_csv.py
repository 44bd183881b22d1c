"""The calls of a session as a table in CSV."""

import csv
import io
from collections.abc import Iterator

from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Exporter
from agentwatch.text.safe import safe_line

COLUMNS = ("number", "tool", "target", "outcome", "exit_code", "duration_ms", "redacted")
FORMULA = ("=", "+", "-", "@")
"""A spreadsheet computes a cell that begins with one of these; a quote before it makes it text."""


def write(exported: Exported, _choices: Choices) -> Iterator[bytes]:
    """Yield the lines of the table. The session was redacted before, unless the user wants it raw."""
    yield row(*COLUMNS)
    is_redacted = "no" if exported.report is None else "yes"
    for call in exported.calls():
        target = safe_line(call.target or "")
        yield row(call.number, call.tool, target, call.outcome, call.exit_code, call.duration_ms, is_redacted)


def row(*cells: object) -> bytes:
    """Return one line of the table; None is an empty cell."""
    line = io.StringIO()
    texts = ["" if cell is None else str(cell) for cell in cells]
    csv.writer(line).writerow(f"'{text}" if text.startswith(FORMULA) else text for text in texts)
    return line.getvalue().encode()


CSV = Exporter(name="csv", suffix=".csv", write=write)
