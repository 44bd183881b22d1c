"""The command `export`: writes a session in another format."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents import Agent
from agentwatch.analysis.moments import Problem
from agentwatch.analysis.status import unknown_agent
from agentwatch.base.faults import INCOMPLETE_RECORDING, USAGE, Fault, cannot_create
from agentwatch.cli.address import Address, is_once, opened
from agentwatch.cli.messages import say
from agentwatch.cli.output import STDOUT, check_output, owner_of, write_file
from agentwatch.cli.progress import ShownProgress
from agentwatch.output.export.exported import Exported, Wanted, exported
from agentwatch.output.export.exporters import Choices, Exporter, Sender
from agentwatch.recording.store import SessionFiles
from agentwatch.text.amounts import byte_size, plural

_MOST_COPIES = 1000
"""Up to this number, an export gets a new name beside earlier ones; after it, the fault is reported."""
_UNFIT = re.compile(r"[^0-9A-Za-z._-]")


class Request(NamedTuple):
    """What the command line asks for."""

    address: Address
    exporter: Exporter | Sender
    wanted: Wanted
    choices: Choices
    output: Path | None
    """The file; `-` for stdout; None for a new file in the working directory."""
    is_forced: bool = False
    """Whether the file may replace another one."""


def run_export(request: Request, agent: Agent | None) -> int:
    """Write the export, report on stderr what was written and masked, and return the exit code. Raise `Fault`
    if the recording cannot be opened, does not have the part, or is of no known agent; or the file cannot be
    written."""
    progress, exporter = ShownProgress(), request.exporter
    if isinstance(exporter, Sender):
        return _send(request, exporter, agent, progress)
    check_output(request.output, [str(request.address.path)], is_forced=request.is_forced)
    session = open_session(request.address, request.wanted, agent, progress)
    if isinstance(session, int):
        return session
    path = request.output or _new_file(session.name, exporter.suffix)
    choices = request.choices._replace(progress=progress.step("writing"))
    try:
        size = write_file(path, exporter.write(session, choices), replaces=request.is_forced)
    finally:
        progress.clear()
    is_limited = request.choices.max_bytes is not None
    say("; ".join(_report(session, None if path == STDOUT else path, size, is_limited=is_limited)))
    return 0


def _send(request: Request, sender: Sender, agent: Agent | None, progress: ShownProgress) -> int:
    """Send the session, report on stderr what was sent and masked, and return the exit code."""
    if request.output is not None:
        raise Fault(f"--to {sender.name} sends the session; it takes no -o", USAGE)
    sender.check()
    session = open_session(request.address, request.wanted, agent, progress)
    if isinstance(session, int):
        return session
    try:
        sent = sender.send(session, request.choices._replace(progress=progress.step("sending")))
    finally:
        progress.clear()
    say("; ".join((sent.words, *_report(session, None, 0))))
    return 0 if sent.is_complete else INCOMPLETE_RECORDING


def open_session(
    address: Address, wanted: Wanted, agent: Agent | None, progress: ShownProgress
) -> Exported | int:
    """Return the part of a session that is exported; of a stream of no known agent, the exit code. Raise
    `Fault` if the recording cannot be opened, does not have the part, or cannot be copied without secrets."""
    is_stream = is_once(address.path)
    name = "session" if is_stream else address.name
    bookmarks = None if is_stream else SessionFiles(address.path).bookmarks
    reader = opened(address.path)
    step = "reading" if wanted.is_raw else "redacting"
    try:
        session = exported(reader, name, wanted, agent, bookmarks, progress.step(step))
    except OSError as error:
        raise cannot_create(Path("the redacted copy"), error) from None
    finally:
        progress.clear()
    if isinstance(session, Problem):
        raise Fault(f"{address.words}: {session.words}", USAGE)
    if session.session.format is None:
        say(f"{address.words}: {unknown_agent(session.session)}")
        return USAGE
    return session


def _new_file(name: str, suffix: str) -> Path:
    """Return the path of a new file for the export of a recording: `demo.html`, then `demo-2.html`."""
    stem = _UNFIT.sub("_", name.removesuffix(".gz").rsplit(".", 1)[0] or "session")[:100]
    names = [f"{stem}{suffix}", *(f"{stem}-{number}{suffix}" for number in range(2, _MOST_COPIES))]
    return next(
        (path for path in map(Path, names) if not os.path.lexists(path) and not owner_of(path)),
        Path(names[0]),
    )


def _report(session: Exported, path: Path | None, size: int, *, is_limited: bool = False) -> Iterator[str]:
    """Yield what was written, and what was masked. With a limited size, some calls may be left out."""
    if path is not None:
        calls = plural(sum(session.outcomes().values()), "call")
        yield f"wrote {path} ({byte_size(size)}, {f'as many of {calls} as fit' if is_limited else calls})"
    yield "nothing was redacted (--raw)" if session.masked is None else session.masked
