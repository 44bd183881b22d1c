"""The command lines of `export` and its relatives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import ADDRESS, PATH, as_moment, forced, reading, together

_WORDS = "14:03:07, +95s, -10s, #12, 50% or a bookmark's name"


def as_filter(_ctx: click.Context, option: click.Parameter, words: str) -> str:
    """Return the words of a filter. Raise `UsageError` if they are not a rule."""
    if words.strip():
        from agentwatch.rules.calls.fields import CALLS
        from agentwatch.rules.language.errors import RuleError
        from agentwatch.rules.language.parser import parse

        try:
            parse(words, CALLS)
        except RuleError as error:
            raise click.UsageError(f"{option.opts[0]}: {error.reason}") from None
    return words


cutting = together(
    click.option("--from", "begin", callback=as_moment, metavar="MOMENT", help=f"Start at {_WORDS}."),
    click.option("--until", callback=as_moment, metavar="MOMENT", help="End at a moment, in the same words."),
    click.option(
        "--only",
        callback=as_filter,
        metavar="RULE",
        default="",
        help="Export only the calls that a rule selects: 'failed duration>5s'.",
    ),
)
_of_formats = together(
    click.option(
        "--max-bytes", type=click.IntRange(1), metavar="N", help="markdown: stop at a call before N."
    ),
    click.option(
        "--max-idle", type=click.FloatRange(0), metavar="SECONDS", help="asciicast: shorten silences."
    ),
    click.option("--content", is_flag=True, help="otlp: send texts, arguments and results too."),
)
_raw = click.option("--raw", "is_raw", is_flag=True, help="Leave secrets and personal data in.")


def _exporter(_ctx: click.Context, option: click.Parameter, name: str) -> Any:
    from agentwatch.output.export.exporters import GROUP, exporter_named, exporter_names

    exporter = exporter_named(name)
    if exporter is not None:
        return exporter
    if name not in exporter_names():
        names = ", ".join(exporter_names())
        raise click.UsageError(f"{option.opts[0]}: {name!r} is not one of: {names}")
    reason = GROUP.problem_of(name)
    GROUP.problems.clear()  # the error is reported here
    raise click.UsageError(reason)


def _complete_exporter(_ctx: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    from agentwatch.output.export.exporters import exporter_names

    return [name for name in exporter_names() if name.startswith(incomplete)]


class _ExporterOption(click.Option):
    """The option `--to`, whose help names all formats."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        from agentwatch.output.export.exporters import exporter_names

        *names, last = exporter_names()
        self.help = f"{', '.join(names)} or {last}."
        return super().get_help_record(ctx)


@click.command(cls=HelpfulCommand)
@click.argument("address", type=ADDRESS)
@click.option(
    "--to",
    "exporter",
    cls=_ExporterOption,
    required=True,
    metavar="FORMAT",
    callback=_exporter,
    shell_complete=_complete_exporter,
)
@click.option("-o", "output", type=PATH, metavar="FILE", help="Write FILE; - is stdout.")
@forced
@cutting
@_of_formats
@_raw
@reading
def export(address: str, **given: Any) -> int:
    """Write a session as a file for others, redacted."""
    from agentwatch.analysis.moments import Asked
    from agentwatch.cli.address import parse_address
    from agentwatch.cli.export import Request, run_export
    from agentwatch.cli.options import Options
    from agentwatch.cli.output import check_output
    from agentwatch.output.export.exported import Wanted
    from agentwatch.output.export.exporters import Choices

    output, is_forced = given["output"], given["is_forced"]
    if output is None and is_forced:
        raise click.UsageError("--force needs -o: without it, the file is always new")
    check_output(output, [address], is_forced=is_forced)
    parsed = parse_address(address)
    if parsed.moment is not None:
        raise click.UsageError("export takes a whole recording; --from and --until choose a part of it")
    wanted = Wanted(Asked(given["begin"], given["until"]), given["only"], given["is_raw"])
    chosen = {name: given[name] for name in ("max_bytes", "max_idle", "content")}
    request = Request(parsed, given["exporter"], wanted, Choices(**chosen), output, is_forced)
    return run_export(request, Options(format=given["format"]).agent())


@click.command(cls=HelpfulCommand)
@click.argument("part", metavar="ADDRESS#3..#5", type=ADDRESS)
@click.option(
    "-o",
    "output",
    required=True,
    type=PATH,
    metavar="FILE",
    help="Write FILE and its times; - is stdout.",
)
@forced
@_raw
@reading
def clip(part: str, output: Path, **given: Any) -> int:
    """Write a part of a session as a new recording, redacted.

    The part is FILE#3..#5 or FILE@+10s..+95s.
    """
    from agentwatch.cli.clip import run_clip
    from agentwatch.cli.options import Options

    agent = Options(format=given["format"]).agent()
    return run_clip(part, output, agent, is_raw=given["is_raw"], is_forced=given["is_forced"])
