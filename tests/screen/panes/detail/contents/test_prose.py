"""A subagent's steps are rendered in the detail as in the transcript."""

from __future__ import annotations

import pytest

from tests.builders.screen.app import lines_of
from tests.builders.screen.call_detail import shown
from tests.builders.screen.lines import ended, init
from tests.conftest import Saver

pytestmark = pytest.mark.slow


async def test_the_steps_of_a_subagent_are_as_in_the_transcript(recording: Saver) -> None:
    """A subagent's message is rendered Markdown, and its calls are lines like those of the transcript."""
    read = {"args": {"path": "a.py"}, "result": {"success": {"totalLines": 9}}}
    fail = {"args": {"command": "make"}, "result": {"failure": {"exitCode": 2}}}
    steps = [
        {"thinkingMessage": {"text": "Where is it?"}},
        {"assistantMessage": {"text": "I **look**:\n\n- here\n"}},
        {"toolCall": {"readToolCall": read}},
        {"toolCall": {"shellToolCall": fail}},
    ]
    task = ended("t", "task", {"description": "Find it"}, {"success": {"conversationSteps": steps}})
    async with shown(recording(init() + task)) as (_, detail, _):
        assert lines_of(detail)[:9] == [
            "thinking",
            "  Where is it?",
            "",
            "I look:",
            "",
            " • here",
            "",
            "  ✓ Read file a.py (9 lines)",
            "  ✗ Ran terminal command make (failed: exit 2)",
        ]


async def test_ten_thousand_steps_are_bounded(recording: Saver) -> None:
    """A subagent with more text than is rendered as Markdown shows the rest as it is."""
    steps = [{"assistantMessage": {"text": f"**step** {n} " + "word " * 40}} for n in range(3_000)]
    task = ended("t", "task", {"description": "Find it"}, {"success": {"conversationSteps": steps}})
    async with shown(recording(init() + task)) as (_, detail, _):
        lines = lines_of(detail)
        assert lines[0].startswith("step 0")
        assert any(line.startswith("**step** 2999") for line in lines)
