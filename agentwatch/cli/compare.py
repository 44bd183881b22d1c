"""The command `compare`: prints where two runs differ, or writes it to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import ShownProgress, say
from agentwatch.cli.parameters import ADDRESS, PATH, forced, stream_format
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.text.signs import MINUS

if TYPE_CHECKING:
    from agentwatch.agents import Agent
    from agentwatch.cli.address import Address
    from agentwatch.cli.options import Options
    from agentwatch.output.compare.comparison import Side
    from agentwatch.output.compare.reports import Report

_REDACTED = ("markdown", "html")
"""The formats that are made to be given away."""


FORMATS = ("text", "json", "markdown", "html")
_WITH = "--with"


class _CompareCommand(HelpfulCommand):
    """A command whose option `--with` takes all addresses up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat `--with` before each of its addresses, as click expects it."""
        return super().parse_args(ctx, repeated(args))


def repeated(args: list[str]) -> list[str]:
    """Return arguments in which each address after `--with` has an option of its own.

    Example:
        >>> repeated(["a", "--with", "b", "c", "--json"])
        ['a', '--with', 'b', '--with', 'c', '--json']
    """
    found: list[str] = []
    is_after_with = False
    for at, word in enumerate(args):
        if word == "--":
            return found + args[at:]
        is_option = word.startswith("-") and word != "-"
        if is_option:
            is_after_with = word == _WITH
        elif is_after_with and found[-1] != _WITH:
            found.append(_WITH)
        found.append(word)
    return found


@click.command(cls=_CompareCommand)
@click.argument("addresses", metavar="A B", type=ADDRESS, nargs=-1, required=True)
@click.option(
    _WITH, "others", multiple=True, metavar="B…", help="Several runs a side: compare A1 A2 --with B1 B2."
)
@click.option("--all", "every", is_flag=True, help="List equal calls too.")
@click.option("-p", "--print", "printing", is_flag=True, hidden=True)  # it always prints
@click.option("--output-format", type=click.Choice(FORMATS), help="Format of the report (default: text).")
@click.option("--json", "as_json", is_flag=True, help="Same as --output-format json.")
@click.option("-o", "output", type=PATH, metavar="FILE", help="Write FILE; - is stdout.")
@forced
@click.option("--raw", "is_raw", is_flag=True, help="markdown, html: leave secrets and personal data in.")
@click.option("--no-color", is_flag=True, help="Use no colours (same as NO_COLOR).")
@stream_format
def compare(addresses: tuple[str, ...], others: tuple[str, ...], **given: Any) -> int:
    """Show where two runs differ, or several runs a side.

    A and B are addresses of sessions: see agentwatch --help.
    """
    from agentwatch.cli.options import Options

    if not others and len(addresses) != 2:
        raise click.UsageError("name two sessions; several runs a side: compare A1 A2 --with B1 B2")
    if given["as_json"] and given["output_format"] not in (None, "json"):
        raise click.UsageError("--json excludes another --output-format")
    output_format = "json" if given["as_json"] else given["output_format"]
    if given["is_forced"] and given["output"] is None:
        raise click.UsageError("--force needs -o")
    a, b = (addresses, others) if others else (addresses[:1], addresses[1:])
    chosen = {name: given[name] for name in ("output", "is_forced", "every", "is_raw")}
    request = Request(a, b, output_format or "text", **chosen)
    return run_compare(request, Options(format=given["format"], no_color=given["no_color"]))


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
    a: list[Side]
    b: list[Side]
    addresses: list[str]
    """Their addresses, in the same order; empty for what can be read only once."""
    masked: list[str]
    """What was masked in each of them."""


def run_compare(request: Request, options: Options) -> int:
    """Write the comparison; the exit code is 0 whether or not the sessions differ."""
    from agentwatch.output.compare.comparison import compare, compare_several
    from agentwatch.output.compare.reports import json_pieces, report_of, several_json, several_report

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
    from agentwatch.cli.output import STDOUT
    from agentwatch.output.compare.reports import text_lines

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
    from agentwatch.output.compare.reports import WHOLE, WIDTH

    if not os.isatty(1):
        return WHOLE
    from shutil import get_terminal_size  # imports lzma: 3 ms

    return max(get_terminal_size((WIDTH, 0)).columns, WIDTH)


def _write(request: Request, pieces: Iterable[bytes]) -> int:
    from agentwatch.cli.output import STDOUT

    if request.output in (None, STDOUT):
        return print_json(pieces)

    def lines() -> Iterator[bytes]:
        yield from pieces
        yield b"\n"

    return _write_file(request, lines())


def _write_file(request: Request, pieces: Iterable[bytes]) -> int:
    from agentwatch.cli.output import STDOUT, write_file

    write_file(request.output or STDOUT, pieces, replaces=request.is_forced)
    return 0


def _open(request: Request, agent: Agent | None, progress: ShownProgress) -> _Opened | int:
    """Open all sessions; of a stream of no known agent, return the exit code."""
    from agentwatch.cli.address import is_once
    from agentwatch.cli.export import open_session
    from agentwatch.cli.output import check_output
    from agentwatch.output.compare.comparison import side_of
    from agentwatch.output.export.exported import Wanted
    from agentwatch.output.redact.mask import Masks

    check_output(request.output, (*request.a, *request.b), is_forced=request.is_forced)
    addresses = [[_whole_session(words) for words in side] for side in (request.a, request.b)]
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
    from agentwatch.cli.address import STDIN

    status = os.fstat(0) if path == STDIN else os.stat(path)
    return status.st_dev, status.st_ino


def _whole_session(words: str) -> Address:
    from agentwatch.cli.address import parse_address

    address = parse_address(words)
    if address.moment is not None:
        raise Fault(f"compare takes whole sessions, not a moment of one: {address.session}", USAGE)
    return address
