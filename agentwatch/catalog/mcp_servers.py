"""What changes in the settings of an agent when agentwatch is added to its MCP servers, or removed."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentwatch.agents.program import McpClient
from agentwatch.agents.registry import mcp_file, variables
from agentwatch.base.faults import USAGE, Fault
from agentwatch.catalog.hooks.plan import MOST_BYTES, Change, added, checked, removed
from agentwatch.catalog.hooks.program import own_bytes

_NAME = "agentwatch"


def server_entry(client: McpClient, environ: Mapping[str, str], *, is_raw: bool) -> dict[str, Any]:
    """Return the entry that starts the server by its whole path, as an editor has another PATH, with the
    variables that move folders: agents do not give a server their whole environment."""
    program = os.path.join(os.path.dirname(sys.executable), _NAME)
    start = [program] if os.access(program, os.X_OK) else [sys.executable, "-m", _NAME]
    arguments = [*start[1:], "mcp", *(["--raw"] if is_raw else [])]
    names = dict.fromkeys(("AGENTWATCH_HOME", "AGENTWATCH_CONFIG", *variables()))
    moved = {name: value for name in names if os.path.isabs(value := environ.get(name, ""))}
    return {"command": start[0], "args": arguments, **client.more, **({"env": moved} if moved else {})}


def vendors_command(client: McpClient, entry: Mapping[str, Any]) -> str:
    """Return the agent's own command that adds the server; empty without one."""
    given = (f"--env {shlex.quote(f'{name}={value}')} " for name, value in entry.get("env", {}).items())
    words = shlex.join([entry["command"], *entry["args"]])
    return client.command and f"{client.command.format(env=''.join(given))} {words}"


def server_change(
    client: McpClient, entry: Mapping[str, Any] | None, environ: Mapping[str, str], home: Path
) -> Change | None:
    """Return the change that adds the entry, or removes it if it is None; None if nothing is to be changed.
    Raise `Fault` if the file must be left alone."""
    path = mcp_file(client, environ, home)
    try:
        before = own_bytes(path, MOST_BYTES)
        if before is None and (entry is None or not path.parent.is_dir()):
            if entry is None:
                return None
            raise Fault(f"{path.parent} does not exist: {client.title} was never started", USAGE)
        after = _edited((before or b"").decode(), client.key, entry, is_toml=path.suffix == ".toml").encode()
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise Fault(f"{path} is left alone: {why}", USAGE) from None
    is_empty = entry is None and not after.strip(b"{} \n")
    return None if after == before else Change(path, before, None if is_empty else after, is_ours=is_empty)


def _edited(text: str, key: str, entry: Mapping[str, Any] | None, *, is_toml: bool) -> str:
    """Return the settings with another entry. Raise `ValueError` if they are not what is expected."""
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
    """In TOML, a text or an array of texts is written as in JSON."""
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
