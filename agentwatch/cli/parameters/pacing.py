"""The options of a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentwatch.cli.parameters import together

if TYPE_CHECKING:
    from agentwatch.analysis.moments import Moment


def as_moment(_ctx: click.Context, option: click.Parameter, words: str | None) -> Moment | None:
    """Return the moment that the words of an option name.

    Raises:
        UsageError: The words name no moment.
    """
    if words is None:
        return None
    from agentwatch.analysis.moments import Problem, parse

    if isinstance(moment := parse(words), Problem):
        raise click.UsageError(f"{option.opts[0]}: {moment.words}")
    return moment


pacing = together(
    click.option(
        "--speed", type=click.FloatRange(0.05, 1000), default=1.0, help="Speed factor (default: 1)."
    ),
    click.option(
        "--max-idle", type=click.FloatRange(0), metavar="SECONDS", help="Shorten silences to SECONDS."
    ),
    click.option(
        "--from",
        "moment",
        callback=as_moment,
        metavar="MOMENT",
        help="Start at 14:03:07, +95s, -10s, #12, 50% or a bookmark's name.",
    ),
    click.option("--until", callback=as_moment, metavar="MOMENT", help="End at a moment, in the same words."),
    click.option("--loop", is_flag=True, help="On the screen: start over at the end."),
    click.option(
        "--pause-on",
        type=click.Choice(("failure", "bookmark")),
        help="On the screen: pause at each failed call or bookmark.",
    ),
)
