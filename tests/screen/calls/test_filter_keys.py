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
    """The filter bar is one row below the calls, at every size."""
    path = recording(init() + b"".join(shell(n) for n in range(30)) + result())
    for size in ((120, 40), (80, 24), (40, 12)):
        async with opened(path, size) as stage:
            await stage.press("2")
            before = stage.calls.region
            await stage.press("f", "2", "9")
            bar = stage.app.screen.query_one("#filter")
            assert bar.region.height == 1
            assert bar.region.y == stage.calls.region.bottom
            assert stage.calls.region.width == before.width
            assert stage.calls.region.height >= 3
            assert "29" in stage.rows()[bar.region.y]
