"""A key leads from a call to its line in the transcript."""

from __future__ import annotations

import pytest

from agentwatch.screen.transcript.pane import Transcript
from tests.builders.screen.app import Stage, opened
from tests.builders.screen.lines import result, session, shell
from tests.builders.screen.transcript_alone import chosen_lines
from tests.conftest import Saver


def chosen_in_view(stage: Stage) -> list[str]:
    """Return the lines in view of the transcript that look chosen."""
    return chosen_lines(stage.app.screen.query_one(Transcript))


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
@pytest.mark.parametrize("pane", ["2", "3", "4"])
async def test_backspace_leads_to_the_line_of_the_chosen_call(
    recording: Saver, size: tuple[int, int], pane: str
) -> None:
    """From the calls, the detail and the actions `backspace` goes to the chosen call's line, in view."""
    async with opened(recording(session(60) + result()), size) as stage:
        await stage.press("2", "g", "j", "j", pane)
        assert stage.chosen == "echo 2"
        await stage.press("backspace")
        assert stage.focus == "transcript"
        await stage.until(lambda: chosen_in_view(stage), "the line")
        assert chosen_in_view(stage) == ["✓ Ran terminal command echo 2"]
        await stage.press("right_square_bracket", "enter")
        await stage.until(lambda: stage.focus == "calls", "the calls")
        assert stage.chosen == "echo 3"


async def test_backspace_leads_from_the_detail_to_the_call_shown_there(recording: Saver) -> None:
    """Where the detail stays with a failure while newer calls are followed, its line is gone to."""
    async with opened(recording(session(3)), follow=True) as stage:
        await stage.append(shell(50, 2, "it broke") + shell(51))
        await stage.press("3", "backspace")
        await stage.until(lambda: chosen_in_view(stage), "the line")
        assert chosen_in_view(stage) == ["✗ Ran terminal command echo 50 (failed: exit 2)"]


async def test_backspace_deletes_where_words_are_typed(recording: Saver) -> None:
    """In the line of the filter and in that of `/` the key takes a letter away."""
    async with opened(recording(session(12) + result())) as stage:
        await stage.press("f", *"11x", "backspace", "enter")
        await stage.until(lambda: '"11"' in stage.calls.title, "the words")
        assert stage.focus == "calls"
        await stage.press("slash", *"out 1x", "backspace")
        await stage.shows("out 1 ")
        await stage.shows("of 3")


async def test_backspace_without_a_call_stays(recording: Saver) -> None:
    """While there is no call, the key leads nowhere."""
    async with opened(recording(session(0))) as stage:
        await stage.press("2", "backspace")
        assert stage.focus == "calls"
