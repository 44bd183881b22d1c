"""An agent whose hooks can be used: where it reads them, in which form, and which events are logged.

An agent that reports its state in files of its own needs no hooks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

TIMEOUT_S = 5
"""The hook takes 5 ms. An agent that would have to wait longer should continue."""


class HookedAgent(NamedTuple):
    """An agent whose hooks can be used."""

    name: str
    title: str
    variable: str
    """The variable of the environment that moves the agent's folder."""
    default: str
    """The agent's folder, below the home folder or the folder that the variable names."""
    file: str
    """The file with the hooks, below the agent's folder."""
    events: tuple[str, ...]
    is_nested: bool = False
    """Whether an entry of an event is a group of hooks; if not, it is a hook."""
    timeout: int | None = None
    """The time after which the agent continues, in the agent's own unit; None if the unit is not certain."""
    note: str = ""
    """What the user has to do after the hooks were installed."""
    manifest: tuple[str, Mapping[str, str]] | None = None
    """The name and the contents of the manifest, if the file belongs to an extension of our own."""
    answers: str = ""
    """The file of the program that answers permission prompts; empty if the hooks only log events."""

    def folder(self, environ: Mapping[str, str], home: Path) -> Path:
        """Return the agent's folder, which may not exist."""
        given = environ.get(self.variable, "")
        if not os.path.isabs(given):
            return home / self.default
        return Path(given) / self.default if self.manifest else Path(given)

    def entry(self, command: str) -> dict[str, Any]:
        """Return an entry of an event with a command."""
        if not self.is_nested:
            return {"command": command}
        hook = {"type": "command", "command": command, "timeout": self.timeout}
        return {"hooks": [hook]}

    def commands(self, entry: object) -> list[object]:
        """Return the commands in an entry of any form; an empty list if it has none."""
        if not isinstance(entry, dict):
            return []
        hooks = entry.get("hooks") if self.is_nested else [entry]
        if not isinstance(hooks, list):
            return []
        return [hook.get("command") if isinstance(hook, dict) else None for hook in hooks]
