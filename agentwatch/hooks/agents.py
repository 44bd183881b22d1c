"""The agents whose hooks can be used: where each reads them, in which form, and which events are logged.

Claude Code and Copilot need no hooks: they write what they do into files of their own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_TIMEOUT_S = 5
"""The hook takes 5 ms. An agent that would wait longer for it should go on."""


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
    """The time after which the agent goes on, in the agent's own unit; None if the unit is not certain."""
    note: str = ""
    """What the user has to do after the hooks were installed."""
    is_extension: bool = False
    """Whether the file belongs to an extension of our own."""

    def folder(self, environ: Mapping[str, str], home: Path) -> Path:
        """Return the agent's folder, which may not exist.

        Args:
            environ: The environment with the variable.
            home: The home folder.
        """
        given = environ.get(self.variable, "")
        if not os.path.isabs(given):
            return home / self.default
        return Path(given) / self.default if self.is_extension else Path(given)

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


CODEX = HookedAgent(
    "codex",
    "Codex",
    "CODEX_HOME",
    ".codex",
    "hooks.json",
    ("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"),
    is_nested=True,
    timeout=_TIMEOUT_S,
    note="Codex runs new hooks once you trust them: start codex, and type /hooks",
)
"""Source: developers.openai.com/codex/hooks, and codex-rs/hooks in the source of Codex (October 2026). The
input begins with session_id; empty output and 0 are no decision. Not run with Codex itself."""
GEMINI = HookedAgent(
    "gemini",
    "Gemini CLI",
    "GEMINI_CLI_HOME",
    ".gemini",
    "extensions/agentwatch/hooks/hooks.json",
    ("BeforeAgent", "BeforeTool", "Notification", "AfterTool", "AfterAgent", "SessionEnd"),
    is_nested=True,
    timeout=_TIMEOUT_S * 1000,
    note="Gemini CLI loads extensions when it starts: restart it, and type /extensions list",
    is_extension=True,
)
"""Source: docs/hooks/reference.md and docs/extensions/reference.md of the Gemini CLI (October 2026). Other
people report that hooks in settings.json did not fire in version 0.52. Not run with the Gemini CLI itself."""
CURSOR = HookedAgent(
    "cursor",
    "Cursor",
    "",
    ".cursor",
    "hooks.json",
    (
        "beforeSubmitPrompt",
        "beforeShellExecution",
        "afterShellExecution",
        "beforeMCPExecution",
        "afterMCPExecution",
        "stop",
        "sessionEnd",
    ),
    note="Cursor reads its hooks when it starts: restart it",
)
"""Source: cursor.com/docs/hooks (October 2026). The conversation is called conversation_id. A hook before
a step could block it: empty output and 0 do not. Not run with Cursor itself."""
AGENTS = {agent.name: agent for agent in (CODEX, GEMINI, CURSOR)}
MANIFEST = {
    "name": "agentwatch",
    "version": "1.0.0",
    "description": "Notes the state of each session for agentwatch. Installed by `agentwatch hooks install`.",
}
"""The manifest of the extension of the Gemini CLI: gemini-extension.json."""
