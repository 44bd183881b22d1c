"""What is known about Claude Code, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    Command,
    Knowledge,
    Program,
    Reports,
    Resume,
    SessionsAt,
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
        ("claude", "-p", "--output-format", "stream-json", "--verbose", "--resume", "{id}", "--", "{text}"),
        "claude --resume",
    ),
    published_name="claude-code",
)
