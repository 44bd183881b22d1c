"""The command `mcp`: serves the sessions of this machine to agents, and adds itself to their settings."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from agentwatch.agents.program import McpClient
from agentwatch.agents.registry import mcp_clients, mcp_file, variables
from agentwatch.base.extras import EXTRAS, install_command
from agentwatch.base.faults import USAGE, Fault
from agentwatch.catalog.hooks.plan import MOST_BYTES, Change, added, checked, made, removed
from agentwatch.catalog.hooks.program import own_bytes
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.hooks import AgentName, changed
from agentwatch.cli.messages import say
from agentwatch.cli.stdout import print_lines

_NEEDS = "the server needs a package that is not installed"
_NAME = "agentwatch"
_AGENT = AgentName(lambda: sorted(mcp_clients()))


@click.command(cls=HelpfulCommand)
@click.option(
    "--install",
    "installed",
    type=_AGENT,
    metavar="AGENT",
    help="Add the server to an agent; a wrong name lists all.",
)
@click.option("--remove", "former", type=_AGENT, metavar="AGENT", help="Remove it from an agent.")
@click.option("--yes", "is_confirmed", is_flag=True, help="Change files without asking.")
@click.option("--raw", "is_raw", is_flag=True, help="Leave secrets and personal data in the answers.")
def mcp(installed: str | None, former: str | None, *, is_confirmed: bool, is_raw: bool) -> int:
    """Let agents search the sessions of this machine.

    An agent starts it as a server of the Model Context Protocol on stdin and stdout. Its tools only read:
    find, sessions, session and calls. What they answer is redacted.
    """
    if installed and former:
        raise click.UsageError("--install excludes --remove")
    if installed or former:
        client = mcp_clients()[installed or former or ""]
        return _changed(client, _entry(client, is_raw=is_raw) if installed else None, is_confirmed)
    if is_confirmed:
        raise click.UsageError("--yes needs --install or --remove")
    if os.isatty(0):
        raise Fault("an agent starts it: agentwatch mcp --install claude adds it to its settings", USAGE)
    try:
        from agentwatch.cli.mcp_server import serve
    except ModuleNotFoundError:
        raise Fault(f"{_NEEDS}: {install_command(EXTRAS['mcp'])}", USAGE) from None
    return serve(is_raw=is_raw)


def _changed(client: McpClient, entry: Mapping[str, Any] | None, is_confirmed: bool) -> int:
    change = _change(client, entry)
    if entry and find_spec("mcp") is None:
        say(f"{_NEEDS}: {install_command(EXTRAS['mcp'])}")
    if change is None:
        return print_lines(
            [f"{client.title} {'has the server already' if entry else 'does not have the server'}"]
        )
    about = []
    if entry and (own := _vendors_command(client, entry)):
        about = [f"{client.title} does the same by: {own}"]
    question, done = ("Add", "added the server to") if entry else ("Remove", "removed the server from")
    done = f"{done} the settings of {client.title}"
    return changed([change], about, f"{question} the server?", is_confirmed, made, done)


def _entry(client: McpClient, *, is_raw: bool) -> dict[str, Any]:
    """Return the entry that starts the server. It has the whole path, because an editor has another PATH, and
    the variables that move folders, because agents do not give a server their whole environment."""
    program = os.path.join(os.path.dirname(sys.executable), _NAME)
    start = [program] if os.access(program, os.X_OK) else [sys.executable, "-m", _NAME]
    arguments = [*start[1:], "mcp", *(["--raw"] if is_raw else [])]
    names = dict.fromkeys(("AGENTWATCH_HOME", "AGENTWATCH_CONFIG", *variables()))
    moved = {name: value for name in names if os.path.isabs(value := os.environ.get(name, ""))}
    return {"command": start[0], "args": arguments, **client.more, **({"env": moved} if moved else {})}


def _vendors_command(client: McpClient, entry: Mapping[str, Any]) -> str:
    """Return the vendor's command that adds the server; empty if the vendor has none."""
    given = (f"--env {shlex.quote(f'{name}={value}')} " for name, value in entry.get("env", {}).items())
    words = shlex.join([entry["command"], *entry["args"]])
    return client.command and f"{client.command.format(env=''.join(given))} {words}"


def _change(client: McpClient, entry: Mapping[str, Any] | None) -> Change | None:
    """Return the change that adds the entry, or removes it if `entry` is None; None if nothing changes."""
    path = mcp_file(client, os.environ, Path.home())
    try:
        before = own_bytes(path, MOST_BYTES)
        if before is None and entry is None:
            return None
        if before is None and not path.parent.is_dir():
            raise Fault(f"{path.parent} does not exist: {client.title} was never started", USAGE)
        after = _edited((before or b"").decode(), client.key, entry, is_toml=path.suffix == ".toml").encode()
    except (OSError, ValueError, RecursionError) as error:
        raise Fault(f"{path} is left alone: {getattr(error, 'strerror', None) or error}", USAGE) from None
    is_empty = entry is None and not after.strip(b"{} \n")
    return None if after == before else Change(path, before, None if is_empty else after, is_ours=is_empty)


def _edited(text: str, key: str, entry: Mapping[str, Any] | None, *, is_toml: bool) -> str:
    """Return the settings with another entry. Raise `ValueError` if they do not have the expected form."""
    import tomllib

    read = tomllib.loads if is_toml else checked
    text = text if is_toml or text.strip() else "{\n  \n}\n"
    document = read(text)
    servers = document.get(key, {}) if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise ValueError(f"its `{key}` are not an object")
    if servers.get(_NAME) == entry:
        return text
    others = {name: server for name, server in servers.items() if name != _NAME}
    if is_toml:
        kept = "".join(_without_tables(text, f"{key}.{_NAME}")).rstrip("\n")
        lines = [kept, *([] if entry is None else _tables(f"{key}.{_NAME}", entry))]
        text = "\n".join(lines).strip("\n") + "\n"
    else:
        if _NAME in servers:
            text = removed(text, [key, _NAME] if others else [key])
        if entry is not None:
            text = added(
                text, *(([key, _NAME], entry) if others or key in read(text) else ([key], {_NAME: entry}))
            )
    wanted = others if entry is None else {**others, _NAME: entry}
    if {key: {}, **read(text)} != {**document, key: wanted}:
        raise ValueError(f"its entry {_NAME} has another form")
    return text


def _tables(name: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of TOML tables, in which a text or an array of texts is written as in JSON."""
    yield from ("", f"[{name}]")
    yield from (f"{key} = {json.dumps(value)}" for key, value in entry.items() if not isinstance(value, dict))
    for key, value in entry.items():
        if isinstance(value, dict):
            yield from _tables(f"{name}.{key}", value)


def _without_tables(text: str, name: str) -> Iterator[str]:
    is_inside = False
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            is_inside = line.startswith((f"[{name}]", f"[{name}."))
        if not is_inside:
            yield line
