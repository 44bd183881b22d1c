"""The filter bar of the calls in the whole app: it receives all keys while it is open."""

from __future__ import annotations

from functools import partial

import pytest
from textual.widgets import Input

from agentwatch.screen.panes.calls.filter_bar import FilterBar
from tests.builders.screen.app import Stage, opened
from tests.builders.screen.lines import init, result, shell
from tests.conftest import Saver

pytestmark = pytest.mark.slow


def filter_input(stage: Stage) -> Input:
    """Return the input of the filter bar."""
    return stage.app.screen.query_one("#filter", FilterBar).input


@pytest.mark.system
async def test_keys_are_letters_in_the_filter_bar(recording: Saver) -> None:
    """In the filter bar all letters are text; esc and enter return the keys to the calls."""
    path = recording(init() + b"".join(shell(n, n % 2) for n in range(10)) + result())
    async with opened(path) as stage:
        await stage.press("2", "f", *"q1jem", "space", "t")
        assert '"q1jem t"' in stage.calls.title
        assert len(stage.app.screen_stack) == 1
        assert stage.calls.line_count() == 0
        await stage.press("escape")
        assert stage.calls.title == "2 Calls"
        assert stage.app.focused is stage.calls
        await stage.press("f", *"failed", "enter", "g", "j")
        assert stage.calls.chosen is stage.feed.session.calls[3]
        await stage.shows("$ echo 3", "detail")
        assert '5 hidden by "failed"' in stage.text()


@pytest.mark.system
async def test_the_filter_bar_is_one_row(recording: Saver) -> None:
    """The filter bar is one row, in the place of the find bar, at every size."""
    path = recording(init() + b"".join(shell(n) for n in range(30)) + result())
    for size in ((120, 40), (80, 24), (40, 12)):
        async with opened(path, size) as stage:
            await stage.press("2")
            before = stage.calls.region
            await stage.press("slash")
            find = stage.app.screen.query_one("#find")
            await stage.until(partial(getattr, find, "region"), "the find bar")
            place = find.region
            await stage.press("escape", "f", "2", "9")
            bar = stage.app.screen.query_one("#filter")
            await stage.shows(" Filter 29")
            assert bar.region == place
            assert bar.region.height == 1
            assert stage.rows()[bar.region.y].startswith(" Filter 29")
            assert stage.calls.region.width == before.width
            assert stage.calls.region.height >= 3


@pytest.mark.system
async def test_escape_clears_a_filter_that_is_kept(recording: Saver) -> None:
    """Esc clears a filter also after enter has closed its bar; from the detail, after going back."""
    path = recording(init() + b"".join(shell(n, n % 2) for n in range(10)) + result())
    async with opened(path) as stage:
        await stage.press("f", *"failed", "enter")
        await stage.shows('5 hidden by "failed"')
        await stage.press("3", "escape")
        assert stage.focus == "calls"
        assert '5 hidden by "failed"' in stage.calls.title
        await stage.press("escape")
        assert stage.calls.title == "2 Calls"


@pytest.mark.system
async def test_tab_completes_a_word_of_the_filter(recording: Saver) -> None:
    """Tab, or the right arrow at the end, completes a field and then its value."""
    path = recording(init() + b"".join(shell(n, n % 2) for n in range(10)) + result())
    async with opened(path) as stage:
        await stage.press("2", "f", *"outc", "tab", *"fa")
        await stage.shows("outcome:failed")
        await stage.press("tab")
        assert filter_input(stage).value == "outcome:failed"
        await stage.until(lambda: "5 hidden" in stage.calls.title, "5 calls")
        await stage.press("enter", "f", "space", *"dur")
        await stage.shows("duration> how long the call took")
        await stage.press("right")
        assert filter_input(stage).value == "outcome:failed duration>"


@pytest.mark.system
async def test_tab_moves_on_if_there_is_nothing_to_complete(recording: Saver) -> None:
    """Without a word to complete, tab goes to the next pane, as everywhere."""
    path = recording(init() + b"".join(shell(n, n % 2) for n in range(4)) + result())
    async with opened(path) as stage:
        before = stage.app.focused
        await stage.press("2", "tab")
        after = stage.app.focused
        await stage.press("2", "f", *"echo", "tab")
        assert stage.app.focused is not filter_input(stage)
        assert before is not after


@pytest.mark.system
async def test_a_mistake_keeps_the_calls_of_the_words_before_it(recording: Saver) -> None:
    """The bar says what is wrong, enter does not close it, and the words before the mistake select calls."""
    path = recording(init() + b"".join(shell(n, n % 2) for n in range(10)) + result())
    async with opened(path) as stage:
        await stage.press("2", "f", *"failed", "space", *"durtion>5s")
        await stage.shows('unknown field "durtion" (did you mean duration?)')
        await stage.until(lambda: '5 hidden by "failed"' in stage.calls.title, "5 calls")
        await stage.press("enter")
        assert stage.app.focused is filter_input(stage)
        await stage.press(*["backspace"] * 10, "enter")
        assert stage.focus == "calls"
        assert '5 hidden by "failed"' in stage.calls.title
    async with opened(path, (60, 24)) as stage:
        await stage.press("2", "f", *"durtion>5s")
        await stage.shows("did you mean duration?")


@pytest.mark.system
async def test_fields_of_the_run_are_refused(recording: Saver) -> None:
    """`failed>3` says where it can be used."""
    path = recording(init() + shell(1, 0) + result())
    async with opened(path) as stage:
        await stage.press("2", "f", *"failed>3")
        await stage.shows('"failed" is a field of --on and check')
