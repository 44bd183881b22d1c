"""The command lines of `engine init`, `engine check` and `engine limits`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import PATH, age, size, together
from agentwatch.cli.ship_options import logging_in


class _HelpfulGroup(HelpfulCommand, click.Group):
    """A group of commands with our way to print help."""

    command_class = HelpfulCommand


_login = together(
    click.argument("address", metavar="ENGINE", type=str),
    click.option(
        "--credentials",
        type=PATH,
        metavar="FILE",
        help="Log in with what FILE contains; only you may be able to read it.",
    ),
    click.option(
        "--ca",
        type=PATH,
        metavar="FILE",
        help="Trust the authority whose certificate is in FILE.",
    ),
)
_max_bytes = click.option(
    "--max-bytes", callback=size, metavar="SIZE", help="Keep at most SIZE of all sessions: 50GB."
)


@click.group(cls=_HelpfulGroup)
def engine() -> None:
    """Set up and check the NATS server to which machines publish."""


@engine.command()
@_login
@click.option(
    "--replicas",
    type=click.Choice(("1", "3")),
    metavar="N",
    help="Keep each byte on 1 server, or on 3 of a cluster (default: 1).",
)
@_max_bytes
@click.option(
    "--publisher",
    "publishers",
    multiple=True,
    metavar="NAME",
    help="Print the permissions of this publisher.",
)
@click.option(
    "--watcher", "watchers", multiple=True, metavar="NAME", help="Print the permissions of this watcher."
)
def init(
    address: str,
    credentials: Path | None,
    ca: Path | None,
    *,
    replicas: str | None,
    max_bytes: int | None,
    publishers: tuple[str, ...],
    watchers: tuple[str, ...],
) -> int:
    """Make the streams, and print the permissions for all users."""
    from agentwatch.cli.engine import Users, run_init

    wanted = None if replicas is None else int(replicas)
    users = Users(publishers, watchers)
    return run_init((address, credentials, ca), replicas=wanted, max_bytes=max_bytes, users=users)


@engine.command()
@_login
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def check(address: str, credentials: Path | None, ca: Path | None, *, as_json: bool) -> int:
    """Print the version, the streams and how full they are."""
    from agentwatch.cli.engine import run_status

    return run_status((address, credentials, ca), as_json=as_json)


@engine.command()
@_login
@_max_bytes
@click.option("--age", "age_ms", callback=age, metavar="AGE", help="Keep the bytes for this time: 7d.")
def limits(
    address: str, credentials: Path | None, ca: Path | None, *, max_bytes: int | None, age_ms: int | None
) -> int:
    """Print the limits of the streams, or change them."""
    from agentwatch.cli.engine import run_limits

    return run_limits((address, credentials, ca), max_bytes=max_bytes, age_ms=age_ms)


@engine.command()
@click.option("--to", metavar="ENGINE", help="The engine: nats://HOST, or its name in the settings.")
@click.option(
    "--all",
    "ships_all",
    is_flag=True,
    help="Ship every session that was published in part; with --to, every one that runs.",
)
@logging_in
@click.argument("sessions", nargs=-1, metavar="[ADDRESS]...")
def ship(sessions: tuple[str, ...], to: str | None, *, ships_all: bool, **login: Any) -> int:
    """Copy saved sessions to an engine, and follow those that run."""
    from agentwatch.cli.ship import run_ship
    from agentwatch.cli.ship_options import given_in

    return run_ship(sessions, to, given_in(login), ships_all=ships_all)
