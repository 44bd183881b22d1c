"""The folders in which agents keep their sessions, and the variables of the environment that move them.

Source: the vendors' documentation and code, and folders that the programs have written. A program that reads
a variable has the default folder too from the time before it was set, so both count.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class SessionFolder(NamedTuple):
    """A folder of sessions, which may not exist."""

    agent: str
    """The short name of the agent."""
    part: str
    """The path of the folder below the agent's own folder, which names the layout of its files."""
    path: str
    """The folder itself, without symbolic links."""


_CURSOR = ("$CURSOR_DATA_DIR", "$CURSOR_CONFIG_DIR", "~/.cursor")
_FOLDERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "claude",
        "projects",
        ("$CLAUDE_CONFIG_DIR", "~/.claude", "$XDG_CONFIG_HOME/claude", "~/.config/claude"),
    ),
    ("codex", "sessions", ("$CODEX_HOME", "~/.codex")),
    ("codex", "archived_sessions", ("$CODEX_HOME", "~/.codex")),
    ("gemini", "tmp", ("$GEMINI_CLI_HOME/.gemini", "~/.gemini")),
    ("qwen", "projects", ("$QWEN_RUNTIME_DIR", "$QWEN_HOME", "~/.qwen")),
    ("pi", "sessions", ("$PI_CODING_AGENT_DIR", "~/.pi/agent")),
    ("pi", "", ("$PI_CODING_AGENT_SESSION_DIR",)),
    ("copilot", "session-state", ("$COPILOT_HOME", "~/.copilot")),
    ("cursor", "projects", _CURSOR),
    ("cursor", "chats", _CURSOR),
    ("opencode", "", ("$XDG_DATA_HOME/opencode", "~/.local/share/opencode")),
    ("goose", "sessions", ("$GOOSE_PATH_ROOT/data", "$XDG_DATA_HOME/goose", "~/.local/share/goose")),
)
"""The agent, the folder of sessions below its own folder, and where the latter may be: below a variable, or
below the home folder."""


def session_folders(environ: Mapping[str, str], home: Path) -> list[SessionFolder]:
    """Return the folders in which agents may keep sessions, each once.

    Args:
        environ: The environment. A variable with a relative path is ignored: the path depends on where the
            agent was started.
        home: The home folder.
    """
    found = (
        SessionFolder(agent, part, os.path.realpath(os.path.join(root, part)))
        for agent, part, roots in _FOLDERS
        for root in _expanded(roots, environ, home)
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
