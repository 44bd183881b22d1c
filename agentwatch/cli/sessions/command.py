"""The command `sessions`: prints the sessions of this machine as a table or as JSON."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable
from pathlib import Path

from agentwatch.byte_size import byte_size
from agentwatch.cli.messages import say
from agentwatch.cli.printing import print_json, print_lines
from agentwatch.cli.sessions.table import WIDTH, table
from agentwatch.cli.sessions.wanted import Wanted, chosen
from agentwatch.faults import USAGE, cannot_open
from agentwatch.machine.machine import Machine
from agentwatch.machine.row import Row
from agentwatch.outputs.safe_json import safe_json
from agentwatch.outputs.session_rows import row_json
from agentwatch.recording import now_ms, sessions_folder
from agentwatch.recording.saved_sessions.stems import saved_stems


def list_sessions(wanted: Wanted, *, as_json: bool) -> int:
    """Print the sessions that are wanted, and return the exit code.

    It is 0 without any session too, as in other programs that list something, and 2 if our own folder of
    sessions cannot be read; the sessions of other agents are printed then. What is hidden is counted on
    stderr.

    Args:
        wanted: The options that choose sessions.
        as_json: Print one JSON object per line instead of a table.
    """
    at_ms = now_ms()
    machine = Machine(os.environ, Path.home())
    machine.wants_all = wanted.shows_all or wanted.since_ms is not None
    machine.settle(at_ms)
    rows = machine.rows
    found = chosen(rows, wanted, at_ms)
    code = (
        _print_json(found.rows) if as_json else print_lines(table(found.rows, rows.values(), _width(), at_ms))
    )
    hidden = found.hidden()
    try:
        size = sum(stem.size for stem in saved_stems())
    except OSError as error:
        size = 0
        say(str(cannot_open(sessions_folder(), error)))
        code = code or USAGE
    totals = [] if as_json else _totals(len(found.rows), size)
    if notes := [*totals, *([hidden] if hidden else [])]:
        say(" · ".join(notes))
    return code


def _print_json(rows: Iterable[Row]) -> int:
    host = platform.node()
    lines = [row_json(row, host) for row in rows]
    if not lines:
        return 0
    return print_json([b"\n".join(map(safe_json, lines) if os.isatty(1) else lines)])


def _totals(count: int, size: int) -> list[str]:
    """Return the number of sessions, and how much disk the recordings of our own take; nothing of nothing."""
    words = [f"{count:,} session{'' if count == 1 else 's'}"] if count else []
    return [*words, f"own recordings: {byte_size(size)}"] if size else words


def _width() -> int:
    return shutil.get_terminal_size((WIDTH, 0)).columns if os.isatty(1) else WIDTH
