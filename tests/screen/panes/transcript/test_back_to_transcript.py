"""Backspace goes from a call to its line in the transcript."""

from __future__ import annotations

import pytest

from agentwatch.screen.panes.transcript.pane import Transcript
from tests.builders.screen.app import Stage, opened
from tests.builders.screen.lines import result, session, shell
from tests.builders.screen.transcript_alone import chosen_lines
from tests.conftest import Saver

pytestmark = pytest.mark.slow


def selected_in_view(stage: Stage) -> list[str]:
    """Return the visible lines of the transcript that are drawn as selected."""
    return chosen_lines(stage.app.screen.query_one(Transcript))


@pytest.mark.system
async def test_backspace_goes_to_the_line_of_the_selected_call(recording: Saver) -> None:
    """In the calls, the detail and the actions, backspace goes to the selected call's transcript line."""
    async with opened(recording(session(60) + result())) as stage:
        for size, panes in (((120, 40), "234"), ((80, 24), "3"), ((40, 12), "2")):
            await stage.pilot.resize_terminal(*size)
            line = [f"✓ {'#3 ' if size[0] > 60 else ''}Ran terminal command echo 2"]
            for pane in panes:
                await stage.press("2", "g", "j", "j", pane)
                assert stage.chosen == "echo 2"
                await stage.press("backspace")
                assert stage.focus == "transcript"
                await stage.until(lambda line=line: selected_in_view(stage) == line, "the line")  # type: ignore[misc]
                await stage.press("right_square_bracket", "enter")
                await stage.until(lambda: stage.focus == "calls", "the calls")
                assert stage.chosen == "echo 3"
        # In the filter bar and the find bar, backspace deletes a character.
        await stage.press("f", *"11x", "backspace", "enter")
        await stage.until(lambda: '"11"' in stage.calls.title, "the words")
        assert stage.focus == "calls"
        await stage.pilot.resize_terminal(120, 40)
        await stage.press("slash", *"out 2x", "backspace")
        await stage.shows("out 2 ")
        await stage.shows("of 11")


@pytest.mark.system
async def test_backspace_in_the_detail_goes_to_the_call_shown_there(recording: Saver) -> None:
    """In a detail that shows a failure while newer calls are followed, backspace goes to the failed call."""
    async with opened(recording(session(3)), follow=True) as stage:
        await stage.append(shell(50, 2, "it broke") + shell(51))
        await stage.press("3", "backspace")
        await stage.until(lambda: selected_in_view(stage), "the line")
        assert selected_in_view(stage) == ["✗ #4 Ran terminal command echo 50 (failed: exit 2)"]


@pytest.mark.system
async def test_backspace_without_a_call_does_nothing(recording: Saver) -> None:
    """Without any call, backspace does nothing."""
    async with opened(recording(session(0))) as stage:
        await stage.press("2", "backspace")
        assert stage.focus == "calls"
