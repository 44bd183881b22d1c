"""The command line of `compare`."""

from __future__ import annotations

from typing import Any

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import ADDRESS, PATH, forced, stream_format

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
    from agentwatch.cli.compare import Request, run_compare
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
