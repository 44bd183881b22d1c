"""The filter bar of the calls in the whole app: it receives all keys while it is open."""

from __future__ import annotations

from functools import partial

import pytest
from textual.widgets import Input

from agentwatch.screen.panes.calls.filter_bar import FilterBar
from tests.builders.screen.app import Stage, opened
from tests.builders.screen.lines import init, result, shell
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


def filter_input(stage: Stage) -> Input:
    """Return the input of the filter bar."""
    return stage.app.screen.query_one("#filter", FilterBar).input


@pytest.mark.system
async def test_the_filter_bar_receives_all_keys(recording: Saver) -> None:
    """In the filter bar keys are text or complete a word, mistakes are named, and esc and enter close it."""
    path = recording(init() + b"".join(shell(n, n % 2) for n in range(10)) + result())
    async with opened(path) as stage:
        # In the filter bar all letters are text; esc and enter return the keys to the calls.
        await stage.press("2", "f", *"q1jem", "space", "t")
        assert '"q1jem t"' in stage.calls.title
        assert len(stage.app.screen_stack) == 1
        assert stage.calls.line_count() == 0
        await stage.press("escape")
        assert stage.calls.title == "2 Calls"
        assert stage.focus == "calls"
        await stage.press("f", *"failed", "enter", "g", "j")
        assert stage.calls.chosen is stage.feed.session.calls[3]
        await stage.shows("$ echo 3", "detail")
        assert '5 hidden by "failed"' in stage.text()
        # Esc clears a filter also after enter has closed its bar; from the detail, after going back.
        await stage.press("escape")
        await stage.press("f", *"failed", "enter")
        await stage.shows('5 hidden by "failed"')
        await stage.press("3", "escape")
        assert stage.focus == "calls"
        assert '5 hidden by "failed"' in stage.calls.title
        await stage.press("escape")
        assert stage.calls.title == "2 Calls"
        # Tab, or the right arrow at the end, completes a field and then its value.
        await stage.press("2", "f", *"outc", "tab", *"fa")
        await stage.shows("outcome:failed")
        await stage.press("tab")
        assert filter_input(stage).value == "outcome:failed"
        await stage.until(lambda: "5 hidden" in stage.calls.title, "5 calls")
        await stage.press("enter", "f", "space", *"dur")
        await stage.shows("duration> how long the call took")
        await stage.press("right")
        assert filter_input(stage).value == "outcome:failed duration>"
        # Without a word to complete, tab goes to the next pane, as everywhere.
        await stage.press("escape")
        before = stage.app.focused
        await stage.press("2", "tab")
        after = stage.app.focused
        await stage.press("2", "f", *"echo", "tab")
        assert stage.app.focused is not filter_input(stage)
        assert before is not after
        # The bar says what is wrong, enter does not close it, and the words before the mistake select calls.
        await stage.press("2", "f", "escape")
        await stage.press("2", "f", *"failed", "space", *"durtion>5s")
        await stage.shows('unknown field "durtion" (did you mean duration?)')
        await stage.until(lambda: '5 hidden by "failed"' in stage.calls.title, "5 calls")
        await stage.press("enter")
        assert stage.app.focused is filter_input(stage)
        await stage.press(*["backspace"] * 10, "enter")
        assert stage.focus == "calls"
        assert '5 hidden by "failed"' in stage.calls.title
        await stage.press("escape")
        await stage.pilot.resize_terminal(60, 24)
        await stage.press("2", "f", *"durtion>5s")
        await stage.shows("did you mean duration?")
        # `failed>3` says where it can be used.
        await stage.press("escape")
        await stage.pilot.resize_terminal(120, 40)
        await stage.press("2", "f", *"failed>3")
        await stage.shows('"failed" is a field of --on and check')


@pytest.mark.system
async def test_the_filter_bar_is_one_row(recording: Saver) -> None:
    """The filter bar is one row, in the place of the find bar, at every size."""
    path = recording(init() + b"".join(shell(n) for n in range(30)) + result())
    async with opened(path) as stage:
        find, bar = (stage.app.screen.query_one(name) for name in ("#find", "#filter"))
        for size in ((120, 40), (80, 24), (40, 12)):
            with case(size):
                await stage.pilot.resize_terminal(*size)
                await stage.press("2")
                before = stage.calls.region
                await stage.press("slash")
                await stage.until(partial(getattr, find, "region"), "the find bar")
                place = find.region
                await stage.press("escape", "f", "2", "9")
                await stage.shows(" Filter 29")
                assert bar.region == place
                assert bar.region.height == 1
                assert stage.rows()[bar.region.y].startswith(" Filter 29")
                assert stage.calls.region.width == before.width
                assert stage.calls.region.height >= 3
                await stage.press("escape")
