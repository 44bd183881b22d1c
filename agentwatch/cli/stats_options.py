"""The command `stats` with its options."""

from __future__ import annotations

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import since


@click.command(cls=HelpfulCommand)
@click.option(
    "--since",
    "since_ms",
    callback=since,
    metavar="TIME",
    help="Count only sessions with activity since then: 7d, 2026-11-01.",
)
@click.option(
    "--agent", "agents", multiple=True, metavar="NAME", help="Count only sessions of this agent: claude."
)
@click.option("--repo", default="", metavar="NAME", help="Count only sessions in this repository.")
@click.option(
    "--output-format",
    type=click.Choice(("text", "json", "csv")),
    help="Format of the output (default: text).",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --output-format json.")
def stats(
    since_ms: int | None, agents: tuple[str, ...], repo: str, output_format: str | None, *, as_json: bool
) -> int:
    """Print statistics over all sessions on this machine.

    They are about time, cost, failures, slow commands, edited files and tests.
    """
    if as_json and output_format not in (None, "json"):
        raise click.UsageError(f"--json excludes --output-format {output_format}")
    from agentwatch.catalog.statistics import Chosen
    from agentwatch.cli.stats import print_statistics

    chosen = Chosen(frozenset(name.casefold() for name in agents), repo, since_ms)
    return print_statistics(chosen, "json" if as_json else output_format or "text")
