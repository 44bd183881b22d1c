"""The selected call stays selected while the moment moves, as far as it exists."""

from itertools import accumulate

import pytest

from agentwatch.screen.screens.session.screen import WatchScreen
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import Stage, lines_of, opened
from tests.builders.screen.lines import session
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


def line_ends(data: bytes) -> list[int]:
    """Return the moments after each line."""
    return list(accumulate(map(len, data.splitlines(keepends=True))))


async def go_to(stage: Stage, offset: int) -> None:
    """Show a moment, with the newest call of it selected."""
    watch_screen(stage).go_to(offset)
    await stage.settled()


async def play_to(stage: Stage, offset: int) -> None:
    """Show a moment as playing does, which does not select the newest call."""
    screen = stage.app.screen
    assert isinstance(screen, WatchScreen)
    screen._moment.playhead.seek(offset)
    screen.frame_scheduler.at_once()
    await stage.settled()


@pytest.mark.system
async def test_the_selected_call_stays_selected(recording: Saver) -> None:
    """What was selected or followed when the live moment was left is selected or followed again."""
    data = session(12, 3)
    ends = line_ends(data)
    async with opened(recording(data)) as stage:
        # If the newest call was followed when the live moment was left, it is followed again.
        await go_to(stage, ends[14])
        await stage.press("2", "k", "L")
        await stage.until(lambda: stage.chosen == "echo 11", "the newest call")
        assert stage.calls.following
        # `L` selects the call that was selected when the live moment was left.
        await stage.press("2", "G")
        await stage.press("2", *"kkkk")
        assert stage.chosen == "echo 7"
        await go_to(stage, ends[14])
        assert stage.chosen != "echo 7"
        await stage.press("L")
        await stage.until(lambda: stage.chosen == "echo 7", "the selected call")
        assert "echo 7" in "".join(lines_of(stage.pane("detail")))
        assert not stage.calls.following
        # While the moment plays to before a selected call, the newest call of then takes its place.
        await stage.press("2", "G")
        await stage.press("2", *"kkkk")
        await play_to(stage, ends[14])
        assert stage.calls.chosen is not None
        assert stage.calls.chosen.number == len(stage.calls.listed.rows) < 8
        await play_to(stage, ends[8])
        await play_to(stage, 0)
        assert stage.chosen is None
        for line in (10, 14, 20, 33):
            await play_to(stage, ends[line])
        await stage.until(lambda: stage.chosen == "echo 7", "the selected call")
        # The call that was selected before a filter is selected again in its state at the present moment.
        await stage.press("L")
        for goes_live in (False, True):
            with case(goes_live):
                await stage.press("2", "g", "f", *"failed", "enter")
                if goes_live:
                    await stage.press("L")
                else:
                    await go_to(stage, ends[14])
                await stage.press("2", "escape", "escape")
                await stage.until(lambda: not stage.calls.listed.requested_filter, "all calls")
                chosen = stage.calls.chosen
                assert chosen is not None
                assert chosen is watch_screen(stage).workspace.panes.session.calls[chosen.number - 1]
        # If the moment moves before the first call as soon as a call is selected, the detail is empty.
        await stage.press("L")
        stage.calls.choose(0)
        watch_screen(stage).go_to(ends[0])
        await stage.settled()
        assert stage.chosen is None
        assert lines_of(stage.pane("detail")) == []
