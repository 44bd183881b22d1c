"""The command `compare`: prints where two runs differ, or writes it to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents import Agent
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.address import STDIN, Address, is_once, parse_address
from agentwatch.cli.export import open_session
from agentwatch.cli.messages import say
from agentwatch.cli.options import Options
from agentwatch.cli.output import STDOUT, check_output, write_file
from agentwatch.cli.progress import ShownProgress
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.output.compare.comparison import Side, compare, compare_several, side_of
from agentwatch.output.compare.reports import (
    WHOLE,
    WIDTH,
    Report,
    json_pieces,
    report_of,
    several_json,
    several_report,
    text_lines,
)
from agentwatch.output.export.exported import Wanted
from agentwatch.output.redact.mask import Masks
from agentwatch.text.signs import MINUS

_REDACTED = ("markdown", "html")
"""The formats that are made to be given away."""


class Request(NamedTuple):
    """What the command line asks for."""

    a: tuple[str, ...]
    """The addresses of the first side."""
    b: tuple[str, ...]
    """The addresses of the second side."""
    output_format: str
    """`text`, `json`, `markdown` or `html`."""
    output: Path | None
    """The file; `-` or None for stdout."""
    is_forced: bool
    """Whether the file may replace another one."""
    every: bool
    """Whether equal calls are listed too."""
    is_raw: bool
    """Whether secrets and personal data stay in a format that is made to be given away."""


class _Opened(NamedTuple):
    """The opened sessions."""

    a: list[Side]
    b: list[Side]
    addresses: list[str]
    """Their addresses, in the same order; empty for what can be read only once."""
    masked: list[str]
    """What was masked in each of them."""


def run_compare(request: Request, options: Options) -> int:
    """Write the comparison, and return the exit code: 0 whether or not the sessions differ. Raise `Fault` if
    an address names a moment, or a session cannot be opened or is of no known agent."""
    if options.no_color:
        os.environ["NO_COLOR"] = "1"
    progress = ShownProgress()
    opened = _open(request, options.agent(), progress)
    if isinstance(opened, int):
        return opened
    if len(opened.a) == len(opened.b) == 1:
        progress.step("aligning the calls").show("…")
        comparison = compare(opened.a[0], opened.b[0])
        progress.clear()
        if request.output_format == "json":
            return _write(request, json_pieces(comparison, every=request.every))
        minus = MINUS if request.output_format == "html" else "-"
        report = report_of(comparison, *opened.addresses, every=request.every, minus=minus)
    else:
        several = compare_several(opened.a, opened.b)
        if request.output_format == "json":
            return _write(request, [several_json(several)])
        report = several_report(several)
    code = _write_report(request, report, opened.masked)
    for words in opened.masked:
        say(words)
    return code


def _write_report(request: Request, report: Report, masked: list[str]) -> int:
    match request.output_format:
        case "markdown":
            from agentwatch.output.compare.reports import markdown_pieces

            return _write_file(request, markdown_pieces(report))
        case "html":
            from agentwatch.output.compare.html_report import page_pieces

            return _write_file(request, page_pieces(report, masked))
    if request.output in (None, STDOUT):
        return print_lines(text_lines(report, _width()))
    return _write_file(request, (f"{line}\n".encode() for line in text_lines(report)))


def _width() -> int:
    if not os.isatty(1):
        return WHOLE
    from shutil import get_terminal_size  # imports lzma: 3 ms

    return max(get_terminal_size((WIDTH, 0)).columns, WIDTH)


def _write(request: Request, pieces: Iterable[bytes]) -> int:
    """Write one line of JSON."""
    if request.output in (None, STDOUT):
        return print_json(pieces)

    def lines() -> Iterator[bytes]:
        yield from pieces
        yield b"\n"

    return _write_file(request, lines())


def _write_file(request: Request, pieces: Iterable[bytes]) -> int:
    write_file(request.output or STDOUT, pieces, replaces=request.is_forced)
    return 0


def _open(request: Request, agent: Agent | None, progress: ShownProgress) -> _Opened | int:
    """Open all sessions; of a stream of no known agent, return the exit code."""
    check_output(request.output, (*request.a, *request.b), is_forced=request.is_forced)
    addresses = [[_parsed(words) for words in side] for side in (request.a, request.b)]
    paths = [str(address.path) for side in addresses for address in side]
    check_output(request.output, paths, is_forced=request.is_forced)
    streams = [_stream(address.path) for side in addresses for address in side if is_once(address.path)]
    if len(streams) > len(set(streams)):
        raise Fault("only one session can be read from stdin, or from the same pipe", USAGE)
    is_raw = request.is_raw or request.output_format not in _REDACTED
    opened, masks = _Opened([], [], [], []), Masks()
    for letter, each, sides in (("A", addresses[0], opened.a), ("B", addresses[1], opened.b)):
        for nth, address in enumerate(each, 1):
            session = open_session(address, Wanted(is_raw=is_raw, masks=masks), agent, progress)
            if isinstance(session, int):
                return session
            progress.step(f"reading the verdicts of {letter}").show("…")
            sides.append(side_of(session.name, session.feed))
            progress.clear()
            opened.addresses.append("" if is_once(address.path) else address.words)
            if request.output_format in _REDACTED:
                name = f"{letter}{nth}" if len(each) > 1 else letter
                opened.masked.append(f"{name}: {session.masked or 'nothing was redacted (--raw)'}")
    return opened


def _stream(path: Path) -> tuple[int, int]:
    status = os.fstat(0) if path == STDIN else os.stat(path)
    return status.st_dev, status.st_ino


def _parsed(words: str) -> Address:
    """Return the address of a whole session."""
    address = parse_address(words)
    if address.moment is not None:
        raise Fault(f"compare takes whole sessions, not a moment of one: {address.session}", USAGE)
    return address
