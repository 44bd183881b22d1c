"""The hooks of Codex."""

from __future__ import annotations

from agentwatch.agents.hooks import TIMEOUT_S, HookedAgent

HOOKS = HookedAgent(
    "codex",
    "Codex",
    "CODEX_HOME",
    ".codex",
    "hooks.json",
    ("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"),
    is_nested=True,
    timeout=TIMEOUT_S,
    note="Codex runs new hooks once you trust them: start codex, and type /hooks",
)
"""Source: developers.openai.com/codex/hooks, and codex-rs/hooks in the source of Codex (October 2026). The
input begins with session_id; empty output and 0 mean no decision. Run with Codex 0.169.0."""
