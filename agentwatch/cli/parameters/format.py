"""The option `--format`."""

from __future__ import annotations

import click

_NAME_COLUMNS = 44
"""The columns beside the names of the options, on a terminal of 80 columns."""


def _format_names() -> list[str]:
    from agentwatch.wire.agents import FORMATS  # only for help, and when a name is given or completed
    from agentwatch.wire.plugins.group import GROUP

    return [*dict.fromkeys((*FORMATS, *GROUP.names()))]


def _known_format(_ctx: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    from agentwatch.wire.agents import agent_named

    if name is None or agent_named(name) is not None:
        return name
    if name not in _format_names():
        raise click.UsageError(f"--format: {name!r} is not one of: {', '.join(_format_names())}")
    from agentwatch.wire.plugins import problem_of, problems

    reason = problem_of(name)
    problems.clear()  # the error is reported here
    raise click.UsageError(reason)


def _complete_format(_ctx: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _format_names() if name.startswith(incomplete)]


class _FormatOption(click.Option):
    """The option `--format`, whose help names all formats."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        from textwrap import wrap  # click breaks names at their hyphens

        names = wrap(", ".join(_format_names()), _NAME_COLUMNS, break_on_hyphens=False)
        self.help = "\n".join(("Read the stream as NAME instead of detecting its format.", "", "\b", *names))
        return super().get_help_record(ctx)


reading = click.option(
    "--format",
    cls=_FormatOption,
    metavar="NAME",
    callback=_known_format,
    shell_complete=_complete_format,
)
