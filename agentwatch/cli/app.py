"""The program: the command `watch` with its options, and the exit code for each way in which a command ends.
Textual is imported only when a screen is drawn: it takes 150 ms, while `--help` and `--print` take 40 ms.
"""

from __future__ import annotations

import gc
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from agentwatch.base.faults import INTERNAL_ERROR, USAGE, Fault, Signalled
from agentwatch.cli.default_command import ARGUMENTS, DefaultCommand, show_version
from agentwatch.cli.messages import internal_error, say
from agentwatch.cli.parameters import ADDRESS, colour, keeping, on, printing, stream_format
from agentwatch.cli.terminal import fill_descriptors

if TYPE_CHECKING:
    from agentwatch.cli.options import Options


@click.group(
    cls=DefaultCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="agentwatch alone lists every session of every coding agent on this machine, live. It also watches "
    "one session: a stream on stdin, an ADDRESS, or an agent started by `run`.",
    epilog=f"{ARGUMENTS['ADDRESS']} {ARGUMENTS['MACHINE']}",
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
@click.argument("addresses", type=ADDRESS, nargs=-1)
@printing
@stream_format
@on("bell, note or log")
@click.option("--tee", is_flag=True, help="Draw the screen on the terminal and copy stdin to stdout.")
@keeping
@click.option("-f", "--follow", is_flag=True, help="Keep reading at the end of FILE.")
@colour
def watch(addresses: tuple[str, ...], **given: Any) -> int:
    """Watch stdin, open a recording, or list the sessions of machines."""
    from agentwatch.cli.address import is_source
    from agentwatch.cli.commands import watch_address, watch_sources, watch_stdin

    options = options_of(given)
    if not addresses:
        return watch_stdin(options)
    if len(addresses) > 1 or is_source(addresses[0]):
        return watch_sources(addresses, options)
    return watch_address(addresses[0], options)


def options_of(given: dict[str, Any]) -> Options:
    """Return the options of a command that watches a session, or raise `UsageError` if they exclude each
    other."""
    from agentwatch.cli.options import Options

    options = Options(**given)
    if options.brief and options.output_format not in (None, "text"):
        raise click.UsageError("--brief requires --output-format text")
    if options.times and (options.brief or options.output_format not in (None, "text")):
        raise click.UsageError("--times requires --output-format text, without --brief")
    if options.with_numbers and not options.times:
        raise click.UsageError("--addresses needs --times")
    if (options.log and options.no_log) or (options.record and options.no_record):
        raise click.UsageError("--log excludes --no-log, and --record excludes --no-record")
    if options.tee and (options.printing or options.output_format):
        raise click.UsageError("--tee draws the screen; it excludes --print and --output-format")
    if options.prints() and (options.loop or options.pause_on):
        raise click.UsageError("--loop and --pause-on need the screen; they exclude printing")
    return options


def main() -> None:
    """Run the command line and exit."""
    code: int | None
    try:
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
    except (KeyboardInterrupt, click.Abort) as stopped:
        code = 128 + signal.SIGINT
        if isinstance(stopped.__cause__, EOFError):  # click takes it for the end of stdin
            code = _report(internal_error(stopped.__cause__), INTERNAL_ERROR)
    except Exception as error:  # noqa: BLE001 - the outermost edge: any other error is a bug
        code = _report(internal_error(error), INTERNAL_ERROR)
    for name in ("agentwatch.agents.plugins", "agentwatch.output.export.exporters"):
        for problem in sys.modules[name].GROUP.problems if name in sys.modules else ():
            say(problem)
    gc.freeze()  # otherwise the exit searches all objects for cycles: 8 % of the duration of `--print`
    sys.exit(code or 0)


def _misuse(error: click.UsageError) -> str:
    """Return what is wrong with the arguments, in one line, and the command whose help has the right ones."""
    words = ("agentwatch",) if error.ctx is None else error.ctx.command_path.split(" ")
    command = " ".join(word for word in words if word != watch.name)
    message = " ".join(error.format_message().split()).removesuffix(".")
    return f"{message} (see {command} --help)"


def _report(message: str, code: int) -> int:
    say(message)
    return code
