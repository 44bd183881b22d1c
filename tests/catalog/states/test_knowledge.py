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


def test_an_answer_of_gemini_announces_a_call() -> None:
    """Its instructions demand a sentence about what it does before each call; the last sentence counts."""
    announces = knowledge_of("gemini").announces
    assert announces is not None
    cases = {
        "I will run the tests.": True,
        "I'll look first.": True,
        "I\u2019m going to edit a.py.": True,
        "One file is missing. I'll write a summary.": True,
        "Fixed the first!\n\nNow I will fix the second.": True,
        "- Next, I need to read b.py": True,
        "Let me check the log.": True,
        "Reading these files:": True,
        "All tests pass.": False,
        "I will stop here. All tests pass.": False,
        "Let me know if you need more.": False,
        "I will delete it. Shall I?": False,
        "I must ask: is that right?": False,
        "I listed the files.": False,
        "": False,
    }
    for answer, expected in cases.items():
        with case(answer):
            assert announces(answer) is expected
