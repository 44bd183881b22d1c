"""The options of `run` that publish its session, and the command `ship`."""

from __future__ import annotations

from typing import Any

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import PATH, together

_ENGINE = "ENGINE"
WAIT_SECONDS = 10.0

_logging_in = together(
    click.option("--publish-as", metavar="NAME", help="Publish as NAME (default: the user, or the host)."),
    click.option("--publish-ca", type=PATH, metavar="FILE", help="Trust the certificates in FILE."),
    click.option("--publish-plaintext", is_flag=True, help="Allow a connection without TLS."),
    click.option("--credentials", type=PATH, metavar="FILE", help="Log in with the credentials in FILE."),
)
publishing = together(
    click.option(
        "--publish",
        metavar=_ENGINE,
        help="Publish the session to nats://HOST, or to an engine that the settings name.",
    ),
    click.option("--no-publish", is_flag=True, help="Do not publish the session, even if the settings do."),
    click.option(
        "--publish-wait",
        type=click.FloatRange(0, 3600),
        default=WAIT_SECONDS,
        metavar="SECONDS",
        help="Wait at the end until the engine has everything, at most SECONDS (default: 10).",
    ),
    _logging_in,
)


@click.command(cls=HelpfulCommand)
@click.option("--to", metavar=_ENGINE, help="The engine: nats://HOST, or its name in the settings.")
@click.option(
    "--all",
    "ships_all",
    is_flag=True,
    help="Ship every session that was published in part; with --to, every one that runs.",
)
@_logging_in
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
def ship(sessions: tuple[str, ...], to: str | None, *, ships_all: bool, **login: Any) -> int:
    """Copy saved sessions to an engine, and follow those that run."""
    from agentwatch.cli.ship.command import run_ship
    from agentwatch.cli.ship.publishing import given_in

    return run_ship(sessions, to, given_in(login), ships_all=ships_all)
