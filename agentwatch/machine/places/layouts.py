"""The folders of all agents, and what each of them holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agentwatch.machine.places.recordings import RECORDINGS
from agentwatch.recording import sessions_folder
from agentwatch.wire.agents import AGENTS, programs
from agentwatch.wire.places import Folder, Kind
from agentwatch.wire.program import Program, imported
from agentwatch.wire.session_folders import session_folders

Roots = dict[tuple[str, str], Folder]
"""Folders to begin with, by the agent and the path."""


class Layouts:
    """The folders to begin with, which may not exist yet."""

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        """Take the environment and the home folder that name the folders."""
        self._environ = environ
        self._home = home
        self._of: dict[tuple[str, str], Kind] = {
            (program.name, each.part): _kind_of(program, each.layout)
            for program in programs()
            for each in program.sessions
        }
        self._named: list[tuple[str, str, str, Kind]] = []
        """The databases that a variable names: the agent, the folder, the name, and the kind of folder."""
        for program in programs():
            if program.database and os.path.isabs(path := environ.get(program.database.variable, "")):
                folder, name = os.path.split(path)
                kind = _kind_of(program, program.database.layout, name)
                self._named.append((program.name, folder, name, kind))

    def roots(self) -> Roots:
        """Return new folders, each once. Links in their paths are followed now."""
        found: Roots = {}
        for agent, part, path in session_folders(self._environ, self._home):
            found.setdefault((agent, path), Folder(path, self._of[agent, part]))
        for agent, folder, name, kind in self._named:
            path = os.path.realpath(folder)
            usual = found.get((agent, path))
            if usual is None or usual.kind.owner(name) is None:
                found[name, path] = Folder(path, kind)
        own = os.path.realpath(sessions_folder(self._environ))
        found["agentwatch", own] = Folder(own, RECORDINGS)
        return found


def _kind_of(program: Program, layout: str, *arguments: str) -> Kind:
    if program.name not in AGENTS:
        from agentwatch.wire.plugins.programs import kind_of

        return kind_of(program.name, layout, *arguments)
    found: Kind = imported(layout)(*arguments)
    return found
