"""The command `explain`: prints why the list says what it says about a session."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from pathlib import Path
from shutil import get_terminal_size

import orjson

from agentwatch.base.clock import now_ms
from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.json_fields import Field, values_of
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.continuing import PROCESS_SECONDS
from agentwatch.catalog.evidence import Facts, evidence
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_ids import Named, named
from agentwatch.cli.address import is_elsewhere, parse_address, session_and_moment
from agentwatch.cli.messages import say
from agentwatch.cli.sessions import of_machines
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.output.session_rows import row_json
from agentwatch.screen.screens.sessions.words import why
from agentwatch.text.safe import cut, safe_line, styled
from agentwatch.text.safe_json import safe_json

_WIDTH = 80
_WHOLE = 1 << 20
"""The width of lines that are not printed on a terminal."""
_SHOWN_COLUMNS = 60
_FIELDS = (
    Field("weight", str),
    Field("what", str),
    Field("source", str),
    Field("since_ms", int, 1 << 63, least=-(1 << 63)),
)


def explain(words: str, *, as_json: bool) -> int:
    """Print the evidence for the state of a session, and return the exit code. `as_json` prints one JSON
    object, with the keys of `sessions --json`. Raise `Fault` if no session of the list, or more than one, is
    called so; or a machine cannot be listed."""
    row, facts = (_elsewhere(words), None) if is_elsewhere(words) else _here(words)
    at_ms = now_ms()
    proofs = evidence(row, facts, at_ms)
    if as_json:
        found = orjson.loads(row_json(row, platform.node())) | {"version": 1, "at_ms": at_ms}
        found["evidence"] = [values_of(_FIELDS, proof) for proof in proofs]
        data = orjson.dumps(found)
        return print_json([safe_json(data) if os.isatty(1) else data])
    width = get_terminal_size((_WIDTH, 0)).columns if os.isatty(1) else _WHOLE
    return print_lines(styled(*pieces) for pieces in why(row, proofs, at_ms, width))


def _here(words: str) -> tuple[Row, Facts | None]:
    """Return the row of a session of this machine, and what is known about it."""
    machine = Machine(os.environ, Path.home())
    machine.settle_processes(now_ms, PROCESS_SECONDS)
    machine.settle_surely(now_ms)
    ids = [Named("" if row.is_own else row.agent, row.id, row) for row in machine.rows.values()]
    ids += [Named(*of, row) for row in machine.rows.values() if (of := machine.recorded(row.key)) is not None]
    row = _named(words, ids)
    if row is None:
        address = parse_address(words)  # a file, a stem, or the id in a recording
        session = None if address.moment else machine.session_at(address.path.absolute())
        row = None if session is None else machine.rows.get(session.found.key)
    if row is None:
        raise _unknown(words)
    if not row.is_read:
        machine.want(row.key)
        machine.settle_surely(now_ms)
    for note in machine.notes:
        say(note)
    return machine.rows.get(row.key, row), machine.facts(row.key)


def _elsewhere(words: str) -> Row:
    """Return the row of a session of another machine."""
    session, moment = session_and_moment(words)
    scheme, _, rest = session.partition("://")
    place, _, name = rest.partition("/")
    rows, _ = of_machines([f"{scheme}://{place}"], wants_all=True)
    ids: list[Named[Row]] = []
    for row in rows.values():
        there = row.address.partition("://")[2].partition("/")[2]
        short = there.rpartition(".")[2]  # without its publisher, as `sessions` prints it
        names = dict.fromkeys((there, short))
        ids += (Named("" if row.is_own else row.agent, each, row) for each in names)
    found = None if moment is not None else _named(name, ids)
    if found is None:
        raise _unknown(words)
    return found


def _named(name: str, sessions: Iterable[Named[Row]]) -> Row | None:
    """Return the row of the session with an id, or whose id alone begins so; None without one."""
    found = named(name, sessions)
    return None if found is None else found.what


def _unknown(words: str) -> Fault:
    shown = cut(safe_line(words), _SHOWN_COLUMNS)
    return Fault(f"no session of the list is called {shown} (agentwatch sessions --all lists them)", USAGE)
