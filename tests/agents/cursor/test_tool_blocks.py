"""The blocks that only some tools have: pages, commands, functions and subagents."""

from __future__ import annotations

from typing import Any

from agentwatch.agents import Decoder
from agentwatch.analysis.block_text import block_text
from agentwatch.session.blocks import FieldsBlock, MarkdownBlock, Reference, ReferencesBlock
from tests.builders.blocks import blocks
from tests.builders.lines import completed, event, init, started
from tests.conftest import case


def test_a_fetched_page_is_markdown() -> None:
    """The Markdown of a fetched page is a block of its own, and its URL is a field."""
    page = {"url": "https://example.com", "markdown": "# Tides\n\n- high\n"}
    decoder = Decoder()
    decoder.decode(init())
    assert decoder.blocks(completed("webFetch", result={"success": page}).rstrip()) == [
        MarkdownBlock("# Tides\n\n- high\n"),
        FieldsBlock("result", {"url": "https://example.com"}),
    ]


def test_the_pages_that_a_web_search_found_are_a_list() -> None:
    """Each page has its title, its URL and its text; an empty field is left out, and an empty page too."""
    pages = [
        {"title": "Tides", "url": "https://example.com/a", "chunk": "High at noon.\n"},
        {"title": "", "url": "", "chunk": "Low at six."},
        {},
        7,
    ]
    line = completed("webSearch", result={"success": {"references": pages, "isCut": False}})
    decoder = Decoder()
    decoder.decode(init())
    [references, rest] = decoder.blocks(line.rstrip())
    assert references == ReferencesBlock(
        (Reference("Tides", "https://example.com/a", "High at noon.\n"), Reference(None, None, "Low at six."))
    )
    assert block_text(references) == "Tides\nhttps://example.com/a\nHigh at noon.\n\nLow at six."
    assert rest == FieldsBlock("result", {"isCut": False})
    assert blocks(completed("webSearch", result={"success": {"references": [{}]}})) == [
        ("result", "references: [\n  {}\n]")
    ]


def test_the_description_of_a_command_comes_first() -> None:
    """A command's description is a text of its own, wherever the line has it; other tools list it."""
    shown = [("description", "Run the tests"), ("arguments", "command: pytest")]
    assert blocks(started("shell", command="pytest", description="Run the tests")) == shown
    body = {"args": {"command": "pytest"}, "description": "Run the tests"}
    assert blocks(event("tool_call", "started", call_id="c", tool_call={"shellToolCall": body})) == shown
    beside = {"shellToolCall": {"args": {"command": "pytest"}}, "description": "Run the tests"}
    assert blocks(event("tool_call", "started", call_id="c", tool_call=beside)) == shown
    assert blocks(started("await", description="x")) == [("arguments", "description: x")]


def test_a_function_shows_what_it_returned() -> None:
    """The text or the fields that a documented `function` returned are shown."""
    cases: list[tuple[object, list[tuple[str, str]]]] = [
        ("sunny\n", [("content", "sunny\n")]),
        ({"degrees": 21}, [("result", "degrees: 21")]),
        ({"later": {"x": 1}, "stdout": "o"}, [("stdout", "o"), ("result", 'later: {\n  "x": 1\n}')]),
        ({"error": {"error": "no"}}, [("error", "no")]),
        ("", []),
    ]
    for given, expected in cases:
        with case(given):
            function = {"name": "weather", "arguments": "{}", "result": given}
            assert (
                blocks(event("tool_call", "completed", call_id="c", tool_call={"function": function}))
                == expected
            )


def test_a_subagent_has_a_kind_and_a_model() -> None:
    """The kind and the model of a subagent are a text of their own, before the other arguments."""
    cases: list[tuple[dict[str, Any], str | None]] = [
        ({"subagentType": {"explore": {}}, "model": "Sonnet 5"}, "explore · Sonnet 5"),
        ({"subagentType": {"custom": {"name": "reviewer"}}}, "reviewer"),
        ({"subagentType": {"unspecified": {}}, "model": "Auto"}, "Auto"),
        ({"subagentType": {"unspecified": {}}}, None),
        ({"subagentType": "explore", "model": ""}, "explore"),
        ({"subagentType": 7, "model": [7]}, None),
    ]
    for given, words in cases:
        with case(given):
            lead = [] if words is None else [("subagent", words)]
            assert blocks(started("task", description="Look", **given)) == [
                *lead,
                ("arguments", "description: Look"),
            ]


def test_the_steps_of_a_subagent() -> None:
    """A subagent's thoughts and texts begin with a sign; each of its calls is a line with its outcome."""
    steps: list[Any] = [
        {"thinkingMessage": {"text": "hm\nwell"}},
        {"assistantMessage": {"text": "I look.\n"}},
        {"toolCall": {"readToolCall": {"args": {"path": "a.py"}, "result": {"success": {"totalLines": 3}}}}},
        {
            "toolCall": {
                "shellToolCall": {"args": {"command": "make\nx"}, "result": {"failure": {"exitCode": 2}}}
            }
        },
        {"webFetchToolCall": {"args": {"url": "u"}, "result": {"rejected": {"reason": "no"}}}},
        {"toolCall": {"teleportToolCall": {"args": {"x": "y"}}}},
        {"toolCall": {"awaitToolCall": {"result": {}}, "ToolCall": {}, "id": "x"}},
        {"toolCall": {"updateTodosToolCall": {"result": {"success": {}}}}},
    ]
    [(kind, text)] = blocks(completed("task", result={"success": {"conversationSteps": steps}}))
    assert kind == "steps"
    assert text.split("\n") == [
        "~ hm",
        "  well",
        "› I look.",
        "✓ Read file a.py (3 lines)",
        "✗ Ran terminal command make (exit 2)",
        "⊘ Fetched web page u (no)",
        "◌ Used tool teleport y",
        "↵ Used tool await (came back without a result)",
        "✓ Updated to-do list",
    ]


def test_only_steps_of_a_subagent_are_shown_in_other_words() -> None:
    """Only lines with a subagent's steps have blocks with text that is not in their bytes."""
    steps = completed("task", "t", {"success": {"conversationSteps": []}})
    decoder = Decoder()
    assert not decoder.searchable_text_differs(steps)
    decoder.decode(init())
    assert decoder.searchable_text_differs(steps)
    assert not decoder.searchable_text_differs(completed("read", "r", {"success": {"content": "steps"}}))
