"""Which calls may wait for permission, by agent and mode."""

from __future__ import annotations

from agentwatch.agents.program import CHANGES
from agentwatch.catalog.states import knowledge_of, may_ask
from agentwatch.session.events import ToolKind
from tests.conftest import case

ASKING: list[tuple[str, str, set[ToolKind]]] = [
    ("claude", "default", {ToolKind.EXECUTE, ToolKind.FETCH, *CHANGES}),
    ("claude", "acceptEdits", {ToolKind.EXECUTE, ToolKind.FETCH}),
    ("claude", "bypassPermissions", set()),
    ("qwen", "auto-edit", {ToolKind.EXECUTE, ToolKind.FETCH, ToolKind.DELEGATE}),
    ("qwen", "yolo", set()),
    ("codex", "on-request", {ToolKind.EXECUTE, *CHANGES}),
    ("codex", "untrusted", {ToolKind.EXECUTE, *CHANGES}),
    ("codex", "never", set()),
    ("opencode", "", {ToolKind.EXECUTE, *CHANGES}),
    ("pi", "", set()),
    ("gemini", "default", set()),
    ("copilot", "", set()),
    ("agentwatch", "default", set()),
    ("an agent of tomorrow", "", {ToolKind.EXECUTE}),
]


def test_an_agent_asks_for_some_kinds_of_calls() -> None:
    """The agent and the mode of the session decide which open calls may be questions."""
    for agent, mode, asking in ASKING:
        with case(f"{agent}, {mode}"):
            known = knowledge_of(agent)
            assert {kind for kind in ToolKind if may_ask(known, mode, kind)} == asking
