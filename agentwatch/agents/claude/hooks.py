"""The hook with which the list answers the permission prompts of Claude Code."""

from __future__ import annotations

from pathlib import Path

from agentwatch.agents.hooks import HookedAgent

ANSWERS = HookedAgent(
    "claude",
    "Claude Code",
    "CLAUDE_CONFIG_DIR",
    ".claude",
    "settings.json",
    ("PermissionRequest",),
    is_nested=True,
    timeout=3600,
    note="The list answers once `answer = true` is set in [act], and the list was opened after that",
    answers=str(Path(__file__).with_name("answer_hook.py")),
)
"""Source: code.claude.com/docs/en/hooks (November 2026). Run with Claude Code 2.1.330."""
