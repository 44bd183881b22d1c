"""The command `sessions`: prints the sessions of this machine or of others, as a table or as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agentwatch.cli.address import HERE
from agentwatch.cli.messages import say
from agentwatch.cli.sessions.table import WIDTH, table
from agentwatch.cli.sessions.wanted import Wanted, chosen
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.faults import USAGE, cannot_open
from agentwatch.machine.machine import Machine
from agentwatch.machine.row import Row
from agentwatch.recording import now_ms, sessions_folder
from agentwatch.recording.saved_sessions.stems import saved_stems
from agentwatch.safe_json import safe_json
from agentwatch.text.amounts import byte_size
from agentwatch.wire.found import Key

_ANSWER_SECONDS = 5.0
"""How long another machine may take to answer."""


def list_sessions(wanted: Wanted, machines: Sequence[str], *, as_json: bool) -> int:
    """Print the sessions that are wanted, and return the exit code.

    It is 0 without any session too, as in other programs that list something, and 2 if our own folder of
    sessions cannot be read; the sessions of other agents are printed then. What is hidden is counted on
    stderr. Each machine that does not answer is reported there; if none answers, the exit code is 2.

    Args:
        wanted: The options that choose sessions.
        machines: `.` for this machine, `nats://HOST`, `ssh://HOST`; this machine if empty.
        as_json: Print one JSON object per line instead of a table.

    Raises:
        Fault: A word names no machine, or a machine cannot be listed as it is named.
    """
    at_ms = now_ms()
    wants_all = wanted.shows_all or wanted.since_ms is not None
    rows, code = _of_machines(machines, wants_all=wants_all) if machines else (_of_this_one(wants_all), 0)
    found = chosen(rows, wanted, at_ms)
    lines = table(found.rows, rows.values(), _width(), at_ms)
    code = (_print_json(found.rows) if as_json else print_lines(lines)) or code
    hidden = found.hidden()
    size = 0
    if not machines or HERE in machines:
        try:
            size = sum(stem.size for stem in saved_stems())
        except OSError as error:
            say(str(cannot_open(sessions_folder(), error)))
            code = code or USAGE
    totals = [] if as_json else _totals(len(found.rows), size)
    if not found.rows and not as_json and not code:
        totals.insert(
            0, "no sessions found" if rows else "no agent has a session here (see agentwatch doctor)"
        )
    if notes := [*totals, *([hidden] if hidden else [])]:
        say(" · ".join(notes))
    return code


def _of_this_one(wants_all: bool) -> Mapping[Key, Row]:
    """Return the rows of this machine."""
    machine = Machine(os.environ, Path.home())
    machine.wants_all = wants_all
    machine.settle(now_ms())
    for note in machine.notes:
        say(note)
    return machine.rows


def _of_machines(words: Sequence[str], *, wants_all: bool) -> tuple[Mapping[Key, Row], int]:
    """Return the rows of several machines, and the exit code; report those that do not answer."""
    from agentwatch.cli.config_file import read_machines
    from agentwatch.cli.machines.sources import check_sources, log_in, several

    check_sources(words)
    log_in(words)
    listed = several(words, read_machines(), os.environ, Path.home())
    listed.wants_all = wants_all
    listed.settle(_ANSWER_SECONDS)
    for note in listed.notes:
        say(note)
    has_answer = listed.here is not None
    for address, each in listed.elsewhere.items():
        has_answer = has_answer or (each.is_found and not each.problem)
        if not each.is_found and not each.problem:
            say(f"{address}: no answer within {_ANSWER_SECONDS:.0f} s")
    rows = listed.rows
    listed.close()
    return rows, 0 if has_answer else USAGE


def _print_json(rows: Iterable[Row]) -> int:
    import platform

    from agentwatch.outputs.session_rows import row_json

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
    if not os.isatty(1):
        return WIDTH
    from shutil import get_terminal_size  # imports lzma: 3 ms

    return get_terminal_size((WIDTH, 0)).columns
