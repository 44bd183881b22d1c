"""The hooks of Cursor."""

from __future__ import annotations

from agentwatch.agents.hooks import HookedAgent

HOOKS = HookedAgent(
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
