"""The command `check` with its options."""

from __future__ import annotations

from typing import Any

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import ADDRESS, PATH, forced, printed_colour, since, stream_format, together

_FORMATS = ("text", "json", "junit", "github")
_rules = together(
    click.option(
        "--rules",
        "files",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Read rules from a TOML file.",
    ),
    click.option(
        "--forbid",
        "forbids",
        multiple=True,
        metavar="RULE",
        help="No call may match: 'tool:edit outside:cwd'.",
    ),
    click.option(
        "--require",
        "requires",
        multiple=True,
        metavar="FACT",
        help="Must hold at the end: result, integrity, text_matches_result, tests=green, acted:allow.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=N",
        help="Maximum of: calls, failed, rejected, call, idle, elapsed, cost, tokens, context.",
    ),
)
_printing = together(
    click.option(
        "--output-format",
        type=click.Choice(_FORMATS),
        default="text",
        help="Print text (default), JSON, JUnit XML, or annotations of GitHub.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Same as --output-format json."),
    click.option(
        "--explain", "explains", is_flag=True, help="Print the calls that each rule checked and hit."
    ),
)
_starting = together(
    click.option("--init", "is_init", is_flag=True, help="Write a file of rules from the session ADDRESS."),
    click.option("--starter", metavar="NAME", help="Write a set of rules to begin with: safe."),
    click.option(
        "-o",
        "output",
        type=PATH,
        metavar="FILE",
        help="With --init or --starter: write FILE; default: stdout.",
    ),
    forced,
)


@click.command(cls=HelpfulCommand)
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...", type=ADDRESS)
@_rules
@_printing
@click.option("--strict", "is_strict", is_flag=True, help="Exit 2 if a rule could not judge a call.")
@click.option(
    "--wait", "waits", is_flag=True, help="Follow recordings that are still being written to their end."
)
@click.option(
    "--since",
    "since_ms",
    callback=since,
    metavar="TIME",
    help="Try the rules on the sessions of this machine that began since then: 7d, 2026-11-20.",
)
@_starting
@printed_colour
@stream_format
def check(addresses: tuple[str, ...], **given: Any) -> int:
    """Check recordings by rules: exit 1 if one is broken, else 0."""
    from agentwatch.cli.check import Given, run_check
    from agentwatch.cli.options import Options

    agent = Options(format=given["format"]).agent()
    rules = Given(given["files"], given["forbids"], given["requires"], given["limits"])
    output_format = "json" if given["as_json"] else given["output_format"]
    starter = given["starter"]
    if given["is_init"] or starter is not None:
        from agentwatch.cli.check import write_set, write_starter

        if starter is not None and (given["is_init"] or addresses):
            raise click.UsageError("--starter takes -o, and neither --init nor an ADDRESS")
        if any(rules) or len(addresses) > 1 or given["since_ms"] is not None:
            raise click.UsageError("--init takes one ADDRESS or none, -o and --format")
        if given["is_forced"] and given["output"] is None:
            raise click.UsageError("--force needs -o")
        if starter is not None:
            return write_set(starter, given["output"], is_forced=given["is_forced"])
        words = addresses[0] if addresses else ""
        return write_starter(words, given["output"], agent, is_forced=given["is_forced"])
    if given["output"] is not None or given["is_forced"]:
        raise click.UsageError("-o and --force need --init or --starter")
    if given["explains"] and output_format != "text":
        raise click.UsageError("--explain needs --output-format text; the other formats always contain it")
    checked_rules = rules.rules()
    if given["since_ms"] is not None:
        from agentwatch.cli.check import try_rules

        if (
            addresses
            or given["waits"]
            or given["is_strict"]
            or given["explains"]
            or output_format not in ("text", "json")
        ):
            raise click.UsageError("--since takes rules and --json; it finds the sessions itself")
        return try_rules(checked_rules, given["since_ms"], as_json=output_format == "json")
    if not addresses:
        raise click.UsageError("name at least one ADDRESS; - is stdin")
    switches = {name: given[name] for name in ("waits", "explains", "is_strict")}
    return run_check(addresses, checked_rules, agent, output_format, **switches)
