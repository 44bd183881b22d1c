"""The hooks of the Gemini CLI."""

from __future__ import annotations

from agentwatch.agents.hooks import TIMEOUT_S, HookedAgent

_MANIFEST = {
    "name": "agentwatch",
    "version": "1.0.0",
    "description": "Notes the state of each session for agentwatch. Installed by `agentwatch hooks install`.",
}
"""The manifest of the extension of the Gemini CLI: gemini-extension.json."""
HOOKS = HookedAgent(
    "gemini",
    "Gemini CLI",
    "GEMINI_CLI_HOME",
    ".gemini",
    "extensions/agentwatch/hooks/hooks.json",
    ("BeforeAgent", "BeforeTool", "Notification", "AfterTool", "AfterAgent", "SessionEnd"),
    is_nested=True,
    timeout=TIMEOUT_S * 1000,
    note="Gemini CLI loads extensions when it starts: restart it, and type /extensions list",
    manifest=("gemini-extension.json", _MANIFEST),
)
"""Source: docs/hooks/reference.md and docs/extensions/reference.md of the Gemini CLI (October 2026). Other
people report that hooks in settings.json did not fire in version 0.52. Run with the Gemini CLI 0.61.0."""
