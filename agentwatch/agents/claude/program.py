"""What is known about Claude Code, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.fields import Fields, text
from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    Knowledge,
    Mode,
    Program,
    Reports,
    Resume,
    SessionsAt,
    dashed,
)
from agentwatch.session.events import ToolKind

if TYPE_CHECKING:
    from agentwatch.sources.stores.store import Store


def _claude_subagents(path: Path, head: bytes) -> Store | None:
    """Open a session of Claude Code that has subagents, or may get them."""
    if path.suffix != ".jsonl" or not head.startswith(b"{"):
        return None
    from agentwatch.agents.claude.subagent_files import open_claude_subagents

    return open_claude_subagents(path)


_MODES = {
    "plan": "it plans, and changes nothing",
    "dontAsk": "only what the settings of the agent allow is done",
    "default": "what needs a permission is refused",
    "acceptEdits": "files are edited without a question; what else needs a permission is refused",
    "auto": "a classifier of the agent decides what runs without a question",
    "bypassPermissions": "everything runs without a question",
}
_OTHER_NAMES = {"manual": "default"}
_MOST_FOLDER = 200
"""The characters of the name of a folder before its hash."""


def _mode_in(fields: Fields) -> str | None:
    """Return the mode in a line: of the user, of a change of the mode, or the first one of a stream."""
    mode = None if fields.get("isSidechain") is True else text(fields, "permissionMode")
    return None if mode is None else _OTHER_NAMES.get(mode, mode)


def keeps(folder: str, cwd: str) -> bool:
    """Return whether the folder with a name has the sessions of a working directory."""
    name = dashed(cwd)
    return folder == name or (
        len(name) > _MOST_FOLDER and folder.startswith(f"{name[:_MOST_FOLDER]}-") and folder != name
    )


PROGRAM = Program(
    name="claude",
    sessions=(
        SessionsAt(
            "projects",
            ("$CLAUDE_CONFIG_DIR", "~/.claude", "$XDG_CONFIG_HOME/claude", "~/.config/claude"),
            "agentwatch.agents.claude.places:projects",
            "${CLAUDE_CONFIG_DIR:-$HOME/.claude}",
        ),
    ),
    file_format="claude-transcript",
    command=Command(
        names=("claude",),
        packages=("@anthropic-ai/claude-code",),
        helpers=frozenset({"--claude-in-chrome-mcp", "--chrome-native-host"}),
        one_prompt=frozenset({"-p", "--print"}),
        several_prompts=frozenset({"--input-format"}),
    ),
    knowledge=Knowledge(
        COMMANDS | CHANGES | {ToolKind.FETCH},
        is_exact=True,
        interrupt="Claude ends the turn, cancels its running calls, writes a result and exits.",
    ),
    reports=Reports("projects", "sessions", "agentwatch.agents.claude.reported:ClaudeRecords"),
    stores=(_claude_subagents,),
    answers="agentwatch.agents.claude.hooks:ANSWERS",
    resume=Resume(
        (
            *("claude", "-p", "--output-format", "stream-json", "--verbose", "{mode}"),
            *("--resume", "{id}", "--", "{text}"),
        ),
        "claude --resume",
        modes=tuple(Mode(name, words, (f"--permission-mode={name}",)) for name, words in _MODES.items()),
        asking="default",
        mode_in=_mode_in,
        folder_in=lambda fields: text(fields, "cwd"),
        keeps=lambda path, cwd: keeps(path.parent.name, cwd),
    ),
    published_name="claude-code",
)
