"""The command `mcp`: serves the sessions of this machine to agents, and adds itself to their settings."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import click

from agentwatch.base.extras import EXTRAS, install_command
from agentwatch.base.faults import USAGE, Fault
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.hooks import AgentName, asked, cannot_change, kept_copies
from agentwatch.cli.messages import say
from agentwatch.cli.stdout import print_lines

_NEEDS = "the server needs a package that is not installed"


def _names() -> list[str]:
    from agentwatch.agents.registry import mcp_clients

    return sorted(mcp_clients())


@click.command(cls=HelpfulCommand)
@click.option(
    "--install",
    "installed",
    type=AgentName(_names),
    metavar="AGENT",
    help="Add the server to an agent; a wrong name lists all.",
)
@click.option("--remove", "removed", type=AgentName(_names), metavar="AGENT", help="Remove it from an agent.")
@click.option("--yes", "is_confirmed", is_flag=True, help="Change files without asking.")
@click.option("--raw", "is_raw", is_flag=True, help="Leave secrets and personal data in the answers.")
def mcp(installed: str | None, removed: str | None, *, is_confirmed: bool, is_raw: bool) -> int:
    """Let agents search the sessions of this machine.

    An agent starts it as a server of the Model Context Protocol on stdin and stdout. Its tools only read:
    find, sessions, session and calls. What they answer is redacted.
    """
    if installed and removed:
        raise click.UsageError("--install excludes --remove")
    if installed or removed:
        return _change(installed or removed or "", bool(installed), is_confirmed, is_raw)
    if is_confirmed:
        raise click.UsageError("--yes needs --install or --remove")
    if os.isatty(0):
        raise Fault("an agent starts it: agentwatch mcp --install claude adds it to its settings", USAGE)
    try:
        from agentwatch.cli.mcp_server import serve
    except ModuleNotFoundError:
        raise Fault(f"{_NEEDS}: {install_command(EXTRAS['mcp'])}", USAGE) from None
    return serve(is_raw=is_raw)


def _change(name: str, is_added: bool, is_confirmed: bool, is_raw: bool) -> int:
    from agentwatch.agents.registry import mcp_clients
    from agentwatch.catalog.mcp_servers import server_change, server_entry, vendors_command

    client = mcp_clients()[name]
    entry = server_entry(client, os.environ, is_raw=is_raw) if is_added else None
    change = server_change(client, entry, os.environ, Path.home())
    if is_added and find_spec("mcp") is None:
        say(f"{_NEEDS}: {install_command(EXTRAS['mcp'])}")
    if change is None:
        return print_lines(
            [f"{client.title} {'has the server already' if is_added else 'does not have the server'}"]
        )
    own = entry and vendors_command(client, entry)
    about = [f"{client.title} does the same by: {own}"] if own else []
    question = f"{'Add' if is_added else 'Remove'} the server?"
    if (code := asked([change], about, question, is_confirmed)) is not None:
        return code
    try:
        copy = change.make()
    except OSError as error:
        raise cannot_change(error) from None
    done = "added the server to" if is_added else "removed the server from"
    return print_lines([*kept_copies([copy] if copy else []), f"{done} the settings of {client.title}"])
