"""The commands with their options, and the exit code for each way in which they end.

Textual is imported only when a screen is drawn: it takes 150 ms, while `--help` and `--print` take 40 ms.
"""

from __future__ import annotations

import gc
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentwatch.cli.default_command import DefaultCommand, show_version
from agentwatch.cli.messages import internal_error, say
from agentwatch.cli.parameters import forced, together
from agentwatch.cli.parameters.addresses import AddressType
from agentwatch.cli.parameters.format import reading
from agentwatch.cli.parameters.pacing import pacing
from agentwatch.cli.ship.options import publishing, ship
from agentwatch.cli.terminal import fill_descriptors
from agentwatch.cli.tripwires.option import on
from agentwatch.faults import INTERNAL_ERROR, USAGE, Fault, Signalled
from agentwatch.machine.status.counts import UnknownFieldError, known_fields

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from agentwatch.cli.options import Options

_FORMATS = ("text", "json", "stream-json", "final", "summary")
_PATH = click.Path(path_type=Path)
_FILE = AddressType()
_ADDRESS = click.argument("address", type=_FILE)


_printing = together(
    click.option("-p", "--print", "printing", is_flag=True, help="Print instead of opening the screen."),
    click.option(
        "--output-format",
        type=click.Choice(_FORMATS),
        help="Format of --print (default: text). `final`: only the answer after the last call.",
    ),
    click.option("--brief", is_flag=True, help="With text: print only the action phrase."),
    click.option("--strict", is_flag=True, help="With --print: exit 1 if an integrity check fails."),
)
_keeping = together(
    click.option("--log", type=_PATH, metavar="FILE", help="Write the action log to FILE."),
    click.option("--no-log", is_flag=True, help="Write no action log."),
    click.option("--record", type=_PATH, metavar="FILE", help="Write the recording to FILE."),
    click.option("--no-record", is_flag=True, help="Keep no recording."),
)
_colour = click.option("--no-color", is_flag=True, help="Print no colour codes (same as NO_COLOR).")


@click.group(
    cls=DefaultCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Watch a coding agent: its stream on stdin, a saved recording, or an agent started by `run`.",
    epilog="ADDRESS: a FILE, the id of a saved session or its first 6 characters, or - for stdin. FILE#12 is "
    "the 12th call; FILE@14:03:07, FILE@+95s and FILE@50% are moments. MACHINE: . is this one, nats://HOST "
    "an engine, ssh://HOST a host; agentwatch lists the sessions of all that are named.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and exit.",
)
def agentwatch() -> None:
    """The command group; its commands do the work."""


@agentwatch.command(hidden=True)
@click.argument("addresses", type=_FILE, nargs=-1)
@_printing
@reading
@on("bell, note or log")
@click.option("--tee", is_flag=True, help="Draw the screen on the terminal and copy stdin to stdout.")
@_keeping
@click.option("-f", "--follow", is_flag=True, help="Keep reading at the end of FILE.")
@_colour
def watch(addresses: tuple[str, ...], **given: Any) -> int:
    """Watch stdin, open a recording, or list the sessions of machines."""
    from agentwatch.cli.commands import watch_address, watch_sources, watch_stdin
    from agentwatch.cli.machines.sources import is_source

    options = _options(given)
    if not addresses:
        return watch_stdin(options)
    if len(addresses) > 1 or is_source(addresses[0]):
        return watch_sources(addresses, options)
    return watch_address(addresses[0], options)


@agentwatch.command()
@_printing
@reading
@_keeping
@on("bell, note, log, pause or stop")
@click.option("--direct", is_flag=True, help="Let the agent write the recording itself, without a relay.")
@publishing
@_colour
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(command: tuple[str, ...], **given: Any) -> int:
    """Start an agent and watch it; exit with the agent's exit code."""
    from agentwatch.cli.commands import watch_agent
    from agentwatch.cli.ship.publishing import publication_of, taken

    asked, options = taken(given), _options(given)
    return watch_agent(command, options, publication_of(asked, options))


@agentwatch.command()
@_ADDRESS
@pacing
@_printing
@reading
@click.option("--log", type=_PATH, metavar="FILE", help="Write the action log to FILE.")
@_colour
def replay(address: str, **given: Any) -> int:
    """Replay a recording with its original timing."""
    from agentwatch.cli.address import parse_address
    from agentwatch.cli.commands import replay_file

    given_address, options = parse_address(address), _options(given)
    if None not in (options.moment, given_address.moment):
        raise click.UsageError("--from excludes an ADDRESS of a moment, which is where the replay starts")
    options = options._replace(moment=options.moment or given_address.moment)
    return replay_file(given_address.path, options, given_address.session)


@agentwatch.command()
@pacing
@_printing
@_colour
def demo(**given: Any) -> int:
    """Replay a bundled session; needs no agent and no network."""
    from agentwatch.cli.commands import replay_file
    from agentwatch.resources import resource

    return replay_file(resource("recordings") / "demo.ndjson", _options(given), is_bundled=True)


@agentwatch.command()
@_ADDRESS
@reading
@click.option("--addresses", is_flag=True, help="Print the number of each call: FILE#12 is its address.")
def log(address: str, addresses: bool, **given: Any) -> int:
    """Print the action log of a recording, as written live."""
    from agentwatch.cli.address import opened, whole
    from agentwatch.cli.options import Options
    from agentwatch.cli.show.log import print_log
    from agentwatch.feed import Feed
    from agentwatch.recording.alarms import alarms_of

    path = whole(address, "log")
    feed = Feed(opened(path), agent=Options(**given).agent())
    return print_log(feed, alarms_of(path), addresses=addresses)


@agentwatch.command()
@_ADDRESS
@reading
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(address: str, as_json: bool, **given: Any) -> int:
    """Print one call (FILE#12), or the state at a time (FILE@+95s)."""
    from agentwatch.cli.address import parse_address
    from agentwatch.cli.options import Options
    from agentwatch.cli.show.command import show

    return show(parse_address(address), Options(**given).agent(), as_json=as_json)


@agentwatch.command()
@_ADDRESS
@reading
def drift(address: str, **given: Any) -> int:
    """List all of a recording that this version does not know."""
    from agentwatch.cli.address import opened, whole
    from agentwatch.cli.options import Options
    from agentwatch.cli.stdout import print_lines
    from agentwatch.outputs.unknown_fields import report

    found = report(opened(whole(address, "drift")), Options(**given).agent())
    return print_lines(found.lines()) or (0 if found.is_known else USAGE)


@agentwatch.command()
@click.option("--format", "template", metavar="TEMPLATE", help=f"Replace fields: {known_fields()}.")
def status(template: str | None) -> int:
    """Print one line of counts for tmux and shell prompts."""
    from agentwatch.cli.status.quick import status_line
    from agentwatch.cli.stdout import print_lines

    try:
        return print_lines([status_line(template)])
    except UnknownFieldError as error:
        raise click.UsageError(f"--format: {error}") from None


class _HookedAgent(click.ParamType[str]):
    """One of the agents whose hooks can be used. They are read when a name is given, completed or listed."""

    name = "agent"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return the names of the agents."""
        return self.names().get_metavar(param, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of an agent."""
        return self.names().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so."""
        return self.names().shell_complete(ctx, param, incomplete)

    def names(self) -> click.Choice[str]:
        """Return the choice among all names."""
        from agentwatch.wire.agents import hooked_agents

        return click.Choice(tuple(hooked_agents()))


@agentwatch.command()
@click.argument("action", type=click.Choice(("status", "install", "remove")))
@click.argument("agent", type=_HookedAgent(), required=False)
@click.option("--yes", "is_confirmed", is_flag=True, help="Change files without asking.")
def hooks(action: str, agent: str | None, *, is_confirmed: bool) -> int:
    """Let Codex, Gemini CLI or Cursor say what they do, by hooks."""
    from agentwatch.cli.hooks.command import run_hooks

    return run_hooks(action, agent, is_confirmed=is_confirmed)


agentwatch.add_command(ship)


@agentwatch.command()
@_ADDRESS
@click.option(
    "-o", "output", type=_PATH, required=True, metavar="FILE", help="Write FILE and its times; - is stdout."
)
@forced
def redact(address: str, output: Path, *, is_forced: bool) -> int:
    """Write the same recording without secrets and personal data."""
    from agentwatch.cli.export.redact import run_redact

    return run_redact(address, output, is_forced=is_forced)


def _options(given: dict[str, Any]) -> Options:
    from agentwatch.cli.options import Options

    options = Options(**given)
    if options.brief and options.output_format not in (None, "text"):
        raise click.UsageError("--brief requires --output-format text")
    if (options.log and options.no_log) or (options.record and options.no_record):
        raise click.UsageError("--log excludes --no-log, and --record excludes --no-record")
    if options.tee and (options.printing or options.output_format):
        raise click.UsageError("--tee draws the screen; it excludes --print and --output-format")
    if options.prints():
        if options.loop or options.pause_on:
            raise click.UsageError("--loop and --pause-on need the screen; they exclude printing")
        return options
    from agentwatch.cli.config_file import read_config

    return options._replace(config=read_config())  # before a file is created or an agent started


def main() -> None:
    """Run the command line and exit."""
    code: int | None
    try:
        gc.set_threshold(200_000, 20, 1000)  # many objects, no cycles: with 50,000, 3 % more CPU
        fill_descriptors()
        code = agentwatch.main(prog_name="agentwatch", standalone_mode=False)
    except Fault as fault:
        code = _report(str(fault), fault.exit_code)
        for line in fault.more:
            say(line)
    except click.UsageError as error:
        code = _report(_misuse(error), USAGE)
    except Signalled as ended:
        code = 128 + ended.number
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = 128 + signal.SIGINT
    except Exception as error:  # noqa: BLE001 - the outermost edge: any other error is a bug
        code = _report(internal_error(error), INTERNAL_ERROR)
    for name in ("agentwatch.wire.plugins", "agentwatch.exports.plugins"):
        for problem in getattr(sys.modules.get(name), "problems", ()):
            say(problem)
    gc.freeze()  # otherwise the exit searches all objects for cycles: 8 % of the duration of `--print`
    sys.exit(code or 0)


def _misuse(error: click.UsageError) -> str:
    """Return what is wrong with the arguments, in one line, and whose help has the right ones."""
    words = ("agentwatch",) if error.ctx is None else error.ctx.command_path.split(" ")
    command = " ".join(word for word in words if word != watch.name)
    return f"{' '.join(error.format_message().split())} (see {command} --help)"


def _report(message: str, code: int) -> int:
    """Print a message in one line on stderr, and return the exit code."""
    say(message)
    return code
