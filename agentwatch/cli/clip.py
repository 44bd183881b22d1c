"""The command `clip`: writes a part of a recording as a recording of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentwatch.agents import Agent
from agentwatch.analysis.moments import CallEnd, Problem, parse
from agentwatch.base.faults import USAGE, Fault, cannot_create
from agentwatch.cli.address import Address, parse_address
from agentwatch.cli.export import open_session
from agentwatch.cli.messages import say
from agentwatch.cli.output import check_output, descriptor, write_file, write_times
from agentwatch.cli.progress import ShownProgress
from agentwatch.output.export.clip import Clip, Range, clip, range_of
from agentwatch.output.export.exported import Wanted
from agentwatch.text.amounts import byte_size, plural

_TO = ".."
_PIECE_BYTES = 1 << 20


def run_clip(words: str, output: Path, agent: Agent | None, *, is_raw: bool, is_forced: bool) -> int:
    """Write the clip and its times, report on stderr what was written, and return the exit code. `words` are
    `FILE#118..#131`, `FILE@+10s..+95s` or `FILE#118`. `output` is `-` for stdout; the arrival times are
    written beside a file. `agent` is None to detect it. `is_raw` leaves secrets and personal data in. Raise
    `Fault` if the recording cannot be opened, does not have the part, or the clip cannot be written."""
    check_output(output, [words], is_forced=is_forced, has_times=True)
    address, wanted = parse_range(words)
    check_output(output, [str(address.path)], is_forced=is_forced, has_times=True)
    progress = ShownProgress()
    session = open_session(address, Wanted(wanted.asked(), is_raw=is_raw), agent, progress)
    if isinstance(session, int):
        return session
    part = range_of(wanted, session)
    if isinstance(part, Problem):
        raise Fault(f"{words}: {part.words}", USAGE)
    try:
        made = clip(session, part, agent)
    except OSError as error:
        raise cannot_create(output, error) from None
    write_file(output, _pieces(made), replaces=is_forced)
    masked = session.report and f"{session.report.words()}, in the whole recording"
    report = [masked or "nothing was redacted (--raw)"]
    if descriptor(output) is None:
        write_times(output, made.times, replaces=is_forced)
        calls = plural(len(part.calls), "call")
        report.insert(0, f"wrote {output} ({byte_size(made.size)}, {calls})")
    if made.is_whole:
        report.append("with all lines before it, which this format needs")
    say("; ".join(report))
    return 0


def parse_range(words: str) -> tuple[Address, Range]:
    """Return the session and the two moments that the user has typed. Raise `Fault` if the words name no part
    of a session."""
    before, dots, after = words.rpartition(_TO)
    if dots and before and not os.path.exists(words):
        until = parse(after)
        address = parse_address(before)
        if address.moment is not None:
            if isinstance(until, Problem):
                raise Fault(f"{words}: {until.words}", USAGE)
            return address, Range(address.moment, until)
    address = parse_address(words)
    if isinstance(address.moment, CallEnd):
        return address, Range(address.moment, address.moment)
    raise Fault(
        f"{words}: name a part, such as {address.session}#3..#5 or {address.session}@+10s..+95s", USAGE
    )


def _pieces(made: Clip) -> Iterator[bytes]:
    offset = 0
    while data := os.pread(made.fd, _PIECE_BYTES, offset):
        yield data
        offset += len(data)
