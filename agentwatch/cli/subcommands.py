"""The options of the short commands; what a command runs is imported when it is called."""

from __future__ import annotations

from typing import Any

import click

from agentwatch import __version__
from agentwatch.catalog.status import UnknownFieldError, known_fields
from agentwatch.cli.app import options_of
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import (
    ADDRESS,
    PATH,
    as_moment,
    colour,
    keeping,
    on,
    printing,
    stream_format,
    together,
)
from agentwatch.cli.ship import publishing

_address = click.argument("address", type=ADDRESS)
_agent = click.argument("command", metavar="-- AGENT...", nargs=-1, required=True, type=click.UNPROCESSED)
_pacing = together(
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


@click.command(cls=HelpfulCommand)
@printing
@stream_format
@keeping
@on("bell, note, log, pause or stop")
@click.option("--direct", is_flag=True, help="Let the agent write the recording itself, without a relay.")
@publishing
@colour
@_agent
def run(command: tuple[str, ...], **given: Any) -> int:
    """Start an agent and watch it; exit with the agent's exit code."""
    from agentwatch.cli.commands import watch_agent
    from agentwatch.cli.ship import publication_of, taken

    asked, options = taken(given), options_of(given)
    return watch_agent(command, options, publication_of(asked, options))


@click.command(cls=HelpfulCommand)
@_agent
def acp(command: tuple[str, ...]) -> int:
    """Start an editor's agent and record both directions.

    Use it in the settings of an editor in place of the agent's command. It copies stdin and stdout byte for
    byte, and exits with the exit code of the agent.
    """
    from agentwatch.sources.editor import Agent
    from agentwatch.sources.open import cannot_start

    try:
        agent = Agent(command)
    except OSError as error:
        raise cannot_start(command[0], error) from None
    return agent.copy()


@click.command(cls=HelpfulCommand)
@_address
@_pacing
@printing
@stream_format
@click.option("--log", type=PATH, metavar="FILE", help="Write the action log to FILE.")
@colour
def replay(address: str, **given: Any) -> int:
    """Replay a recording with its original timing."""
    from agentwatch.cli.address import parse_address
    from agentwatch.cli.commands import replay_file

    given_address, options = parse_address(address), options_of(given)
    if None not in (options.moment, given_address.moment):
        raise click.UsageError("--from excludes an ADDRESS of a moment, which is where the replay starts")
    options = options._replace(moment=options.moment or given_address.moment)
    return replay_file(given_address.path, options, given_address.session)


@click.command(cls=HelpfulCommand)
@_pacing
@printing
@colour
def demo(**given: Any) -> int:
    """Replay a bundled session; needs no agent and no network."""
    from agentwatch.base.files import resource
    from agentwatch.cli.commands import replay_file

    return replay_file(resource("recordings") / "demo.ndjson", options_of(given), is_bundled=True)


@click.command(cls=HelpfulCommand)
@click.option("--format", "template", metavar="TEMPLATE", help=f"Replace fields: {known_fields()}.")
def status(template: str | None) -> int:
    """Print one line of counts for tmux and shell prompts."""
    from agentwatch.cli.status import status_line
    from agentwatch.cli.stdout import print_lines

    try:
        return print_lines([status_line(template)])
    except UnknownFieldError as error:
        raise click.UsageError(f"--format: {error}") from None


@click.command("host-rows", hidden=True)
def host_rows() -> None:
    """Send the list of this machine, for `agentwatch ssh://HOST` elsewhere."""
    from agentwatch.remote.ssh.host import send_rows

    send_rows(__version__)


@click.command("host-pieces", hidden=True)
@click.argument("session")
@click.argument("have", type=click.IntRange(0))
@click.argument("digest", default="-")
def host_pieces(session: str, have: int, digest: str) -> None:
    """Send a session, for `agentwatch ssh://HOST/ID` elsewhere."""
    from agentwatch.remote.ssh.host import send_pieces

    send_pieces(session, have, digest)


SHELLS = ("bash", "zsh", "fish")


@click.command(cls=HelpfulCommand)
@click.argument("name", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, name: str) -> int:
    """Print the completion script of a shell."""
    from agentwatch.cli.stdout import print_lines

    return print_lines(script(ctx.find_root().command, name).splitlines())


def script(program: click.Command, shell: str) -> str:
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    assert complete is not None
    return f"{complete(program, {}, 'agentwatch', '_AGENTWATCH_COMPLETE').source().strip()}\n"
