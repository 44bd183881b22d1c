"""A line of the transcript is selected by key or click; it leads to its call or unfolds its thought."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agentwatch.screen.panes.transcript.pane import Transcript
from tests.builders.screen.app import PaneApp, Stage, lines_of, measure_all, opened, viewport
from tests.builders.screen.lines import answer, init, prompt, result, session, shell, thinking
from tests.builders.screen.transcript_alone import brought_up, chosen_lines, cut_all, history, of, shown
from tests.conftest import Saver


class SelectionApp(PaneApp):
    """An app with the transcript only; it records the calls that were selected."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self.chosen: list[tuple[int, bool]] = []

    def on_transcript_call_chosen(self, event: Transcript.CallChosen) -> None:
        """Record the number of the call, and whether the event asks to go to it."""
        self.chosen.append((event.call.number, event.goes_there))


@asynccontextmanager
async def shown_with_selection(
    path: Path, size: tuple[int, int] = (60, 20)
) -> AsyncIterator[tuple[Transcript, SelectionApp, Pilot[None]]]:
    """Show a recording's transcript in an app that records selections."""
    feed, transcript = of(path)
    app = SelectionApp(transcript)
    async with app.run_test(size=size) as pilot:
        transcript.focus()
        await pilot.pause()
        brought_up(feed, transcript)
        yield transcript, app, pilot


async def test_keys_go_from_a_line_to_its_call(recording: Saver) -> None:
    """`[` and `]` select the lines of calls and thoughts; enter goes to the call or unfolds the thought."""
    path = recording(init() + shell(1) + thinking("It squeaks.") + shell(2) + answer("end"))
    async with shown_with_selection(path) as (transcript, app, pilot):
        await pilot.press("enter")
        assert chosen_lines(transcript) == ["✓ #2 Ran terminal command echo 2"]
        await pilot.press("enter", "left_square_bracket")
        assert app.chosen == [(2, False), (2, True)]
        assert chosen_lines(transcript) == ["thinking 2.5 s ▸"]
        await pilot.press("enter")
        assert chosen_lines(transcript)[0] == "thinking 2.5 s ▾"
        assert "  It squeaks." in lines_of(transcript)
        await pilot.press("enter", "left_square_bracket", "enter", "left_square_bracket")
        assert chosen_lines(transcript) == ["✓ #1 Ran terminal command echo 1"]
        assert app.chosen == [(2, False), (2, True), (1, False), (1, True)]
        assert "  It squeaks." not in lines_of(transcript)


@pytest.mark.system
async def test_a_click_selects_a_call_and_unfolds_a_thought(recording: Saver) -> None:
    """A click on a call's line selects it, a second one goes to it; a click on a thought unfolds it."""
    path = recording(init() + prompt("p") + shell(1) + thinking("It squeaks."))
    async with shown_with_selection(path) as (transcript, app, pilot):
        assert lines_of(transcript)[2:5:2] == ["  ✓ #1 Ran terminal command echo 1", "thinking 2.5 s ▸"]
        await pilot.click(transcript, offset=(8, 1))
        assert app.chosen == []
        await pilot.click(transcript, offset=(8, 3))
        assert app.chosen == [(1, False)]
        await pilot.click(transcript, offset=(8, 3))
        assert app.chosen[-1] == (1, True)
        await pilot.click(transcript, offset=(8, 3), times=2)
        assert app.chosen[-1] == (1, True)
        await pilot.click(transcript, offset=(8, 5))
        assert lines_of(transcript)[-2:] == ["thinking 2.5 s ▾", "  It squeaks."]
        await pilot.click(transcript, offset=(8, 5))
        assert lines_of(transcript)[-1] == "thinking 2.5 s ▸"


async def test_reveal_call_selects_the_line_of_a_call(recording: Saver) -> None:
    """`reveal_call` scrolls to a call's line and selects it, even among blocks not measured yet."""
    feed, transcript = of(recording(history(120)))
    async with shown(transcript, (50, 16)):
        cut_all(feed, transcript)
        for number in (3, 60, 119):
            transcript.reveal_call(feed.session.calls[number])
            assert chosen_lines(transcript) == [f"✓ #{number + 1} Ran terminal command echo {number}"]
            assert not transcript.following
            seen = viewport(transcript)
            measure_all(transcript)
            assert viewport(transcript) == seen


def selected_in_view(stage: Stage) -> list[str]:
    """Return the visible lines of the transcript that are drawn as selected."""
    return chosen_lines(stage.app.screen.query_one(Transcript))


@pytest.mark.system
async def test_backspace_goes_to_the_line_of_the_selected_call(recording: Saver) -> None:
    """Backspace goes to the line of the call that is selected or shown; without one it does nothing."""
    # In the calls, the detail and the actions, backspace goes to the selected call's line.
    async with opened(recording(session(60) + result())) as stage:
        for size, panes in (((120, 40), "234"), ((80, 24), "3"), ((40, 12), "2")):
            await stage.pilot.resize_terminal(*size)
            line = ["✓ #3 Ran terminal command echo 2"]
            for pane in panes:
                await stage.press("2", "g", "j", "j", pane)
                assert stage.chosen == "echo 2"
                await stage.press("backspace")
                assert stage.focus == "transcript"
                await stage.until(lambda line=line: selected_in_view(stage) == line, "the line")  # type: ignore[misc]
                await stage.press("right_square_bracket", "enter")
                opened_pane = "calls" if size[0] >= 100 else "detail"
                await stage.until(lambda pane=opened_pane: stage.focus == pane, opened_pane)  # type: ignore[misc]
                assert stage.chosen == "echo 3"
                await stage.press("2")
        # In the filter bar and the find bar, backspace deletes a character.
        await stage.press("f", *"11x", "backspace", "enter")
        await stage.until(lambda: '"11"' in stage.calls.title, "the words")
        assert stage.focus == "calls"
        await stage.pilot.resize_terminal(120, 40)
        await stage.press("slash", *"out 2x", "backspace")
        await stage.shows("out 2 ")
        await stage.shows("of 11")
    # In a detail that shows a failure while newer calls are followed, backspace goes to the failed call.
    async with opened(recording(session(3)), follow=True) as stage:
        await stage.append(shell(50, 2, "it broke") + shell(51))
        await stage.press("3", "backspace")
        await stage.until(lambda: selected_in_view(stage), "the line")
        assert selected_in_view(stage) == ["✗ #4 Ran terminal command echo 50 (failed: exit 2)"]
    # Without any call, backspace does nothing.
    async with opened(recording(session(0))) as stage:
        await stage.press("2", "backspace")
        assert stage.focus == "calls"
