"""The folders in which agents keep their sessions, as the environment names them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.registry import programs


class SessionFolder(NamedTuple):
    """A folder of sessions, which may not exist."""

    agent: str
    """The short name of the agent."""
    part: str
    """The path of the folder below the agent's own folder, which names the layout of its files."""
    path: str
    """The folder itself, without symbolic links."""


def variables() -> list[str]:
    """Return the variables that move the folders of agents, or name a database."""
    roots = (root for program in programs() for each in program.sessions for root in each.roots)
    named = (program.database.variable for program in programs() if program.database)
    return list(dict.fromkeys((*(root[1:].partition("/")[0] for root in roots if root[0] == "$"), *named)))


def session_folders(environ: Mapping[str, str], home: Path) -> list[SessionFolder]:
    """Return the folders in which agents may keep sessions, each once. A variable with a relative path is
    ignored: the path depends on where the agent was started."""
    found = (
        SessionFolder(program.name, each.part, os.path.realpath(os.path.join(root, each.part)))
        for program in programs()
        for each in program.sessions
        for root in _expanded(each.roots, environ, home)
    )
    return list(dict.fromkeys(found))


def _expanded(roots: tuple[str, ...], environ: Mapping[str, str], home: Path) -> Iterator[str]:
    for root in roots:
        first, _, below = root.partition("/")
        base = environ.get(first[1:], "") if first.startswith("$") else str(home)
        if base.startswith("~/"):
            base = os.path.join(home, base[2:])
        if os.path.isabs(base) and "\0" not in base:
            yield os.path.join(base, below)
