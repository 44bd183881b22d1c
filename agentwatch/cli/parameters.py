"""The options and types of arguments that several commands have: addresses, formats, moments, ages, sizes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentwatch.base.clock import now_ms as clock_ms

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from agentwatch.analysis.moments import MomentSpec

Callback = Callable[[click.Context, click.Parameter, str | None], int | None]

_MOST_OFFERED = 100
_NAME_COLUMNS = 44
"""The columns beside the names of the options, on a terminal of 80 columns."""
AGE_HINT = "an age is 90s, 30m, 2h, 30d or 4w"
_SIZE = r"([0-9]{1,12})(?:\.([0-9]{1,3}))?([kKMGT]?)(i?)[bB]?"
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


class PathType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5
    """A path that is not checked. `click.Path` asks gettext for its name, which imports locale: 2 ms."""

    name = "path"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> Any:
        return Path(value)

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class AddressType(PathType):
    """A path, or the id of a session; the words are checked when the session is opened."""

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> Any:
        return value

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete files; if no file begins with the words, the ids of sessions of any agent."""
        from glob import escape

        from click.shell_completion import CompletionItem

        files = CompletionItem(incomplete, type="file")
        path = Path(incomplete or ".")
        if not incomplete or "/" in incomplete or any(path.parent.glob(f"{escape(path.name)}*")):
            return [files]
        from agentwatch.catalog.session_ids import SessionIds

        # click's script for bash drops the words that precede a file entry, so the file entry comes first.
        return [files, *map(CompletionItem, SessionIds().beginning_with(incomplete)[:_MOST_OFFERED])]


PATH = PathType()
ADDRESS = AddressType()


def _format_names() -> list[str]:
    from agentwatch.agents.plugins import GROUP
    from agentwatch.agents.registry import FORMATS  # only for help, and when a name is given or completed

    return [*dict.fromkeys((*FORMATS, *GROUP.names()))]


def _known_format(_ctx: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    if name is None:
        return None
    from agentwatch.agents.registry import agent_named

    if agent_named(name) is not None:
        return name
    if name not in _format_names():
        raise click.UsageError(f"--format: {name!r} is not one of: {', '.join(_format_names())}")
    from agentwatch.agents.plugins import GROUP

    reason = GROUP.problem_of(name)
    GROUP.problems.clear()  # the error is reported here
    raise click.UsageError(reason)


def completed_from(
    names: Callable[[], list[str]],
) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes an option by names; the names are searched when it runs."""
    return lambda _ctx, _option, incomplete: [name for name in names() if name.startswith(incomplete)]


class _FormatOption(click.Option):
    """An option whose help names all formats."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from textwrap import wrap  # click breaks names at their hyphens

        names = wrap(", ".join(_format_names()), _NAME_COLUMNS, break_on_hyphens=False)
        self.help = "\n".join(("Read the stream as NAME instead of detecting its format.", "", "\b", *names))
        return super().get_help_record(ctx)


stream_format = click.option(
    "--format",
    cls=_FormatOption,
    metavar="NAME",
    callback=_known_format,
    shell_complete=completed_from(_format_names),
)
printing = together(
    click.option("-p", "--print", "printing", is_flag=True, help="Print instead of opening the screen."),
    click.option(
        "--output-format",
        type=click.Choice(("text", "json", "stream-json", "final", "summary")),
        help="Format of --print (default: text). `final`: only the answer after the last call.",
    ),
    click.option("--brief", is_flag=True, help="With text: print only the action phrase."),
    click.option("--times", is_flag=True, help="With text: print the action log, a time before each call."),
    click.option(
        "--addresses",
        "with_numbers",
        is_flag=True,
        help="With --times: print the number of each call.",
    ),
    click.option("--strict", is_flag=True, help="With --print: exit 1 if the recording is not whole."),
)
keeping = together(
    click.option("--log", type=PATH, metavar="FILE", help="Write the action log to FILE."),
    click.option("--no-log", is_flag=True, help="Write no action log."),
    click.option("--record", type=PATH, metavar="FILE", help="Write the recording to FILE."),
    click.option("--no-record", is_flag=True, help="Keep no recording."),
)
colour = click.option("--no-color", is_flag=True, help="Print no colour codes (same as NO_COLOR).")


def _print_plainly(_ctx: click.Context, _option: click.Parameter, is_set: bool) -> None:
    if is_set:
        os.environ["NO_COLOR"] = "1"


printed_colour = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_print_plainly,
    help="Print no colour codes (same as NO_COLOR).",
)


def on(actions: str) -> Callable[[Any], Any]:
    return click.option(
        "--on",
        nargs=2,
        multiple=True,
        metavar="RULE ACTION",
        help=f"When RULE is hit: {actions}. An alarm, not a sandbox: the call may already run.",
    )


def forced(command: Any) -> Any:
    return click.option("--force", "is_forced", is_flag=True, help="Replace FILE if it exists.")(command)


def as_moment(_ctx: click.Context, option: click.Parameter, words: str | None) -> MomentSpec | None:
    if words is None:
        return None
    from agentwatch.analysis.moments import Problem, parse

    if isinstance(moment := parse(words), Problem):
        raise click.UsageError(f"{option.opts[0]}: {moment.words}")
    return moment


def number_in(parse: Callable[[str], int | None], complaint: str) -> Callback:
    """Return the callback of an option whose words mean a number. `parse` returns None for wrong words, which
    the error message shows before `complaint`: `is not an age; an age is 30m or 2h`."""

    def value(_ctx: click.Context, option: click.Parameter, words: str | None) -> int | None:
        if words is None:
            return None
        found = parse(words)
        if found is None:
            raise click.UsageError(f"{option.opts[0]}: {words!r} {complaint}")
        return found

    return value


def age_ms(words: str) -> int | None:
    """Return an age in milliseconds; None if the words are not an age."""
    from agentwatch.text.times import age_ms  # `--help` needs no times

    return age_ms(words)


def _time_ms(words: str) -> int | None:
    from agentwatch.text.times import time_ms

    return time_ms(words, clock_ms())


def byte_count(words: str) -> int | None:
    """Return a size in bytes; None if the words are not a size.

    Example:
        >>> byte_count("1.5GB"), byte_count("2GiB"), byte_count("much")
        (1500000000, 2147483648, None)
    """
    import re

    found = re.fullmatch(_SIZE, words)
    if found is None:
        return None
    whole, part, unit, binary = found.groups()
    if binary and not unit:
        return None
    scale: int = (1024 if binary else 1000) ** _POWERS[unit.upper()]
    return int(whole) * scale + int((part or "0").ljust(3, "0")) * scale // 1000


age = number_in(age_ms, f"is not an age; {AGE_HINT}")
since = number_in(
    _time_ms,
    f"is neither an age nor a date; {AGE_HINT}, a date is 2026-11-20",
)
size = number_in(byte_count, "is not a size; a size is 500MB, 50GB or 2GiB")
