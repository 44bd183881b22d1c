"""The command `show`: prints one call, a session at a moment, or why the list says what it says."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentwatch.base.clock import now_ms
from agentwatch.base.faults import USAGE, Fault
from agentwatch.catalog.session_ids import Named, named
from agentwatch.cli.address import (
    Address,
    is_elsewhere,
    is_once,
    open_reader,
    parse_address,
    session_and_moment,
)
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import say
from agentwatch.cli.options import Options
from agentwatch.cli.parameters import ADDRESS, printed_colour, stream_format
from agentwatch.cli.stdout import print_json, print_lines, terminal_width
from agentwatch.text.safe import cut, safe_line, styled

if TYPE_CHECKING:
    from agentwatch.agents import Agent
    from agentwatch.analysis.moments import MomentSpec
    from agentwatch.catalog.evidence import Facts
    from agentwatch.catalog.row import Row
    from agentwatch.feed.feed import Feed, Timeline
    from agentwatch.feed.history import History
    from agentwatch.output.show import State

_WIDTH = 80
_WHOLE = 1 << 20
"""The width of lines that are not printed on a terminal."""
_SHOWN_COLUMNS = 60


@click.command(cls=HelpfulCommand)
@click.argument("address", type=ADDRESS)
@stream_format
@click.option("--why", "is_why", is_flag=True, help="Print why the list says what it says about the session.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@printed_colour
def show(address: str, *, is_why: bool, as_json: bool, **given: Any) -> int:
    """Print one call (FILE#12), or the state at a time (FILE@+95s).

    With --why, every piece of evidence for the state in the list has its source and age. What would be needed
    to know more comes last.
    """
    if is_why:
        if given["format"] is not None:
            raise click.UsageError("--why is about the row of the list; it excludes --format")
        return _show_why(address, as_json=as_json)
    return _show_moment(parse_address(address), Options(**given).agent(), as_json=as_json)


def _show_moment(address: Address, agent: Agent | None, *, as_json: bool) -> int:
    from agentwatch.analysis.moments import CallEnd
    from agentwatch.analysis.status import unknown_agent
    from agentwatch.feed.feed import Feed
    from agentwatch.feed.history import History
    from agentwatch.output.show import call_json, call_text, state_json, state_text

    reader = open_reader(address.path, follow=None)  # what is still being written has not ended
    feed = Feed(reader, agent)
    history = History(feed, reader)
    times = history.timeline
    feed.advance()
    if feed.session.outcome is None:
        raise Fault(unknown_agent(feed.session), USAGE)
    if isinstance(address.moment, CallEnd):
        number = address.moment.number
        _offset(address, CallEnd(number), feed, times)  # reports a call that does not exist
        call = feed.session.calls[number - 1]
        if as_json:
            return print_json([call_json(feed, call)])
        return print_lines(call_text(feed, call, times.last_ms))
    state = _state(address, history)
    return print_json(state_json(state)) if as_json else print_lines(state_text(state))


def _state(address: Address, history: History) -> State:
    from agentwatch.analysis.moments import End, base_of, time_of
    from agentwatch.output.show import State

    moment, feed, times = address.moment or End.LIVE, history.feed, history.timeline
    offset = _offset(address, moment, feed, times)
    if offset >= times.size:
        return State(feed, times.size, times.size, times.last_ms)
    part = history.at(offset)
    at_ms = time_of(moment, times, base_of(moment, times))
    if at_ms is None or times.first_ms is None or at_ms < times.first_ms:
        at_ms = times.ms_at(part.offset) if part.offset else None
    return State(part, part.offset, times.size, at_ms)


def _offset(address: Address, moment: MomentSpec, feed: Feed, times: Timeline) -> int:
    from agentwatch.analysis.moments import Problem, addressed
    from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
    from agentwatch.recording.store import SessionFiles

    path = None if is_once(address.path) else SessionFiles(address.path).bookmarks
    bookmarks = Bookmarks(path, lambda offset: ends_a_line(feed.reader.line_at, offset)).by_name()
    offset = addressed(moment, feed.session, times, bookmarks)
    if isinstance(offset, Problem):
        raise Fault(f"{address.words}: {offset.words}", USAGE)
    return offset


def _show_why(words: str, *, as_json: bool) -> int:
    from agentwatch.catalog.evidence import evidence
    from agentwatch.screen.screens.sessions.words import why

    row, facts = (_row_elsewhere(words), None) if is_elsewhere(words) else _row_here(words)
    at_ms = now_ms()
    proofs = evidence(row, facts, at_ms)
    if as_json:
        import platform

        import orjson

        from agentwatch.base.json_fields import Field, values_of
        from agentwatch.output.session_rows import row_json

        since_ms = Field("since_ms", int, 1 << 63, least=-(1 << 63))
        fields = Field("weight", str), Field("what", str), Field("source", str), since_ms
        found = orjson.loads(row_json(row, platform.node())) | {"version": 1, "at_ms": at_ms}
        found["evidence"] = [values_of(fields, proof) for proof in proofs]
        return print_json([orjson.dumps(found)])
    lines = why(row, proofs, at_ms, terminal_width(_WIDTH) or _WHOLE)
    return print_lines(styled(*pieces) for pieces in lines)


def _row_here(words: str) -> tuple[Row, Facts | None]:
    from agentwatch.catalog.catalog import Machine
    from agentwatch.catalog.continuing import PROCESS_SECONDS

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
        raise _unlisted(words)
    if not row.is_read:
        machine.want(row.key)
        machine.settle_surely(now_ms)
    for note in machine.notes:
        say(note)
    return machine.rows.get(row.key, row), machine.facts(row.key)


def _row_elsewhere(words: str) -> Row:
    from agentwatch.cli.sessions import of_machines

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
        raise _unlisted(words)
    return found


def _named(name: str, sessions: Iterable[Named[Row]]) -> Row | None:
    """Return the session with an id, or the only one whose id begins with it; None without one."""
    found = named(name, sessions)
    return None if found is None else found.what


def _unlisted(words: str) -> Fault:
    shown = cut(safe_line(words), _SHOWN_COLUMNS)
    return Fault(f"no session of the list is called {shown} (agentwatch sessions --all lists them)", USAGE)
