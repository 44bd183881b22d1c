"""The hidden commands that another machine's agentwatch starts on this one, over ssh."""

from __future__ import annotations

import click

from agentwatch import __version__


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
