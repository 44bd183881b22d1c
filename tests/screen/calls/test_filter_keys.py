"""The filter bar of the calls in the whole app: it receives all keys while it is open."""

from __future__ import annotations

from tests.builders.screen.app import opened
from tests.builders.screen.lines import init, result, shell
from tests.conftest import Saver


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


async def test_the_filter_bar_is_one_row(recording: Saver) -> None:
    """The filter bar is one row, in the place of the find bar, at every size."""
    path = recording(init() + b"".join(shell(n) for n in range(30)) + result())
    for size in ((120, 40), (80, 24), (40, 12)):
        async with opened(path, size) as stage:
            await stage.press("2")
            before = stage.calls.region
            await stage.press("slash")
            find = stage.app.screen.query_one("#find").region
            await stage.press("escape", "f", "2", "9")
            bar = stage.app.screen.query_one("#filter")
            assert bar.region == find
            assert bar.region.height == 1
            assert stage.rows()[bar.region.y].startswith(" Filter 29")
            assert stage.calls.region.width == before.width
            assert stage.calls.region.height >= 3


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
