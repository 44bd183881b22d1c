"""The command `compare`: prints where two runs differ, or writes it to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.address import STDIN, Address, is_once, whole_address
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import ShownProgress, say
from agentwatch.cli.options import Options
from agentwatch.cli.output import STDOUT, check_output, write_file
from agentwatch.cli.parameters import ADDRESS, PATH, forced, stream_format
from agentwatch.cli.stdout import print_json, print_lines, terminal_width
from agentwatch.text.signs import MINUS

if TYPE_CHECKING:
    from agentwatch.agents import Agent
    from agentwatch.output.compare.comparison import Side

_REDACTED = ("markdown", "html")
"""The formats that are made for other people, and are redacted."""


FORMATS = ("text", "json", "markdown", "html")
_WITH = "--with"
_WHOLE = "compare takes whole sessions, not a moment of one"


class _CompareCommand(HelpfulCommand):
    """A command whose option `--with` takes all addresses up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
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
    if not others and len(addresses) != 2:
        raise click.UsageError("name two sessions; several runs a side: compare A1 A2 --with B1 B2")
    if given["as_json"] and given["output_format"] not in (None, "json"):
        raise click.UsageError("--json excludes another --output-format")
    output_format = "json" if given["as_json"] else given["output_format"] or "text"
    output, is_forced, every = given["output"], given["is_forced"], given["every"]
    if is_forced and output is None:
        raise click.UsageError("--force needs -o")
    from agentwatch.output.compare import comparison, reports

    if given["no_color"]:
        os.environ["NO_COLOR"] = "1"
    sides = (addresses, others) if others else (addresses[:1], addresses[1:])
    check_output(output, (*sides[0], *sides[1]), is_forced=is_forced)
    named = [[whole_address(words, _WHOLE) for words in side] for side in sides]
    check_output(output, [str(each.path) for side in named for each in side], is_forced=is_forced)
    is_raw, progress = given["is_raw"] or output_format not in _REDACTED, ShownProgress()
    opened = _open(named, Options(format=given["format"]).agent(), progress, is_raw=is_raw)
    if len(opened.a) == len(opened.b) == 1:
        progress.step("aligning the calls").show("…")
        found = comparison.compare(opened.a[0], opened.b[0])
        progress.clear()
        if output_format == "json":
            return _write_json(reports.json_pieces(found, every=every), output, is_forced=is_forced)
        minus = MINUS if output_format == "html" else "-"
        report = reports.report_of(found, *opened.addresses, every=every, minus=minus)
    else:
        several = comparison.compare_several(opened.a, opened.b)
        if output_format == "json":
            return _write_json([reports.several_json(several)], output, is_forced=is_forced)
        report = reports.several_report(several)
    if output_format == "text" and output in (None, STDOUT):
        return print_lines(reports.text_lines(report, _width()))
    masked = opened.masked if output_format in _REDACTED else []
    match output_format:
        case "markdown":
            pieces = reports.markdown_pieces(report)
        case "html":
            from agentwatch.output.compare.html_report import page_pieces

            pieces = page_pieces(report, masked)
        case _:
            pieces = (f"{line}\n".encode() for line in reports.text_lines(report))
    write_file(output or STDOUT, pieces, replaces=is_forced)
    for words in masked:
        say(words)
    return 0


class _Opened(NamedTuple):
    a: list[Side]
    b: list[Side]
    addresses: list[str]
    """The addresses of the sides in the same order; empty for an input that can be read only once."""
    masked: list[str]


def _width() -> int:
    from agentwatch.output.compare.reports import WHOLE, WIDTH

    width = terminal_width(WIDTH)
    return WHOLE if width is None else max(width, WIDTH)


def _write_json(pieces: Iterable[bytes], output: Path | None, *, is_forced: bool) -> int:
    if output in (None, STDOUT):
        return print_json(pieces)
    write_file(output, chain(pieces, [b"\n"]), replaces=is_forced)
    return 0


def _open(
    named: Sequence[Sequence[Address]], agent: Agent | None, progress: ShownProgress, *, is_raw: bool
) -> _Opened:
    from agentwatch.cli.export import open_session
    from agentwatch.output.compare.comparison import side_of
    from agentwatch.output.export.exported import Wanted
    from agentwatch.output.redact.mask import Masks

    streams = [_stream(each.path) for side in named for each in side if is_once(each.path)]
    if len(streams) > len(set(streams)):
        raise Fault("only one session can be read from stdin, or from the same pipe", USAGE)
    opened, masks = _Opened([], [], [], []), Masks()
    for letter, side, sides in (("A", named[0], opened.a), ("B", named[1], opened.b)):
        for nth, address in enumerate(side, 1):
            session = open_session(address, Wanted(is_raw=is_raw, masks=masks), agent, progress)
            progress.step(f"reading the verdicts of {letter}").show("…")
            sides.append(side_of(session.name, session.feed))
            progress.clear()
            opened.addresses.append("" if is_once(address.path) else address.words)
            name = f"{letter}{nth}" if len(side) > 1 else letter
            opened.masked.append(f"{name}: {session.masked or 'nothing was redacted (--raw)'}")
    return opened


def _stream(path: Path) -> tuple[int, int]:
    status = os.fstat(0) if path == STDIN else os.stat(path)
    return status.st_dev, status.st_ino
