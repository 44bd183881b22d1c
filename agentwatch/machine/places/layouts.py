"""The folders of all agents, and what each of them holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agentwatch.machine.places.databases import goose_database, is_opencode_database, opencode_databases
from agentwatch.machine.places.described_files import COPILOT, CURSOR_CHATS, OPENCODE_STORAGE, RECORDINGS
from agentwatch.machine.places.folder import Folder, Kind
from agentwatch.machine.places.gemini import Gemini
from agentwatch.machine.places.line_files import CLAUDE, CODEX, CODEX_ARCHIVE, CURSOR, PI, QWEN
from agentwatch.recording import sessions_folder
from agentwatch.sources.session_folders import session_folders

Roots = dict[tuple[str, str], Folder]
"""Folders to begin with, by the agent and the path."""


class Layouts:
    """The folders to begin with, which may not exist yet."""

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        """Take the environment and the home folder that name the folders."""
        self._environ = environ
        self._home = home
        storage = {"storage": OPENCODE_STORAGE}.get
        self._database = environ.get("OPENCODE_DB", "")
        self._of: dict[tuple[str, str], Kind] = {
            ("claude", "projects"): CLAUDE,
            ("codex", "sessions"): CODEX,
            ("codex", "archived_sessions"): CODEX_ARCHIVE,
            ("gemini", "tmp"): Gemini().kind,
            ("qwen", "projects"): QWEN,
            ("pi", "sessions"): PI,
            ("pi", ""): PI,
            ("copilot", "session-state"): COPILOT,
            ("cursor", "projects"): CURSOR,
            ("cursor", "chats"): CURSOR_CHATS,
            ("opencode", ""): opencode_databases(storage),
            ("goose", "sessions"): goose_database(),
        }
        self._chosen = opencode_databases(lambda _: None, os.path.basename(self._database))

    def roots(self) -> Roots:
        """Return new folders, each once. Links in their paths are followed now."""
        found: Roots = {}
        for agent, part, path in session_folders(self._environ, self._home):
            found.setdefault((agent, path), Folder(path, self._of[agent, part]))
        if os.path.isabs(self._database):
            path, name = os.path.split(self._database)
            path = os.path.realpath(path)
            label = "opencode" if is_opencode_database(name) else name
            found.setdefault((label, path), Folder(path, self._chosen))
        own = os.path.realpath(sessions_folder(self._environ))
        found["agentwatch", own] = Folder(own, RECORDINGS)
        return found
