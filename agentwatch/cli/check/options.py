"""The command `check` with its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import together
from agentwatch.cli.parameters.format import reading

_FORMATS = ("text", "json", "junit", "github")
_rules = together(
    click.option(
        "--rules",
        "files",
        multiple=True,
        type=click.Path(path_type=Path),
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
        help="At the end: result, integrity, text_matches_result, tests=green.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=N",
        help="The most of: calls, failed, rejected, call, idle, elapsed, cost, tokens, context.",
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
    click.option("--explain", "explains", is_flag=True, help="Print what each rule looked at and hit."),
)


@click.command(cls=HelpfulCommand)
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...", type=click.Path(path_type=str))
@_rules
@_printing
@click.option(
    "--wait", "waits", is_flag=True, help="Follow recordings that are still being written to their end."
)
@reading
def check(addresses: tuple[str, ...], **given: Any) -> int:
    """Check recordings by rules: exit 0 if all hold, 1 if one is broken."""
    from agentwatch.cli.check.command import Given, run_check
    from agentwatch.cli.options import Options

    output_format = "json" if given["as_json"] else given["output_format"]
    if given["explains"] and output_format != "text":
        raise click.UsageError("--explain needs --output-format text; the others contain everything")
    rules = Given(given["files"], given["forbids"], given["requires"], given["limits"]).rules()
    if not addresses:
        raise click.UsageError("name at least one ADDRESS; - is stdin")
    agent = Options(format=given["format"]).agent()
    return run_check(addresses, rules, agent, output_format, waits=given["waits"], explains=given["explains"])
