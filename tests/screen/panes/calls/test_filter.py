"""The calls are filtered by words and sorted by duration; the filter bar receives all keys."""

from functools import partial

import pytest
from textual.widgets import Input

from agentwatch.screen.panes.calls.pane import FilterBar
from tests.builders.screen.app import Stage, opened, viewport
from tests.builders.screen.call_table import filtered, reads, rows_of, tables
from tests.builders.screen.lines import append, ended, init, result, shell, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


def filter_input(stage: Stage) -> Input:
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


@pytest.mark.system
async def test_words_filter_while_they_are_typed(recording: Saver) -> None:
    """Each letter updates the filter, to which new calls are held; esc shows all calls again."""
    async with tables() as (show, pilot):
        # Each letter updates the filter, and the border shows how many calls it hides.
        path = recording(init() + shell(1) + shell(2, 1) + reads("echo.py", "b.py", "c.py") + shell(3, 1))
        _, table = await show(path)
        assert len(await filtered(table, pilot, "f", "e", "c", "h")) == 4
        assert str(table.border_title) == '2 Calls · 2 hidden by "ech"'
        rows = await filtered(table, pilot, "o", "space", *"failed")
        assert [row.split()[2:4] for row in rows] == [["echo", "2"], ["echo", "3"]]
        assert str(table.border_title) == '2 Calls · 4 hidden by "echo failed"'
        assert len(await filtered(table, pilot, "x")) == 0
        assert table.cursor == -1
        await filtered(table, pilot, "backspace", "enter")
        assert pilot.app.focused is table
        assert not pilot.app.query_one(FilterBar).display
        assert len(rows_of(table)) == 2
        # Esc in the filter bar shows all calls again, and restores the selection.
        _, table = await show(recording(init() + b"".join(shell(n) for n in range(40))))
        await pilot.press(*"kkkkk")
        before = table.chosen
        assert len(await filtered(table, pilot, "f", "3", "9")) == 1
        assert table.chosen is not before
        assert len(await filtered(table, pilot, "escape")) == 40
        assert table.chosen is before
        await filtered(table, pilot, "f", "3", "9")
        assert len(await filtered(table, pilot, "enter", "f", "escape")) == 40
        assert pilot.app.focused is table
        assert str(table.border_title) == "2 Calls"
        await pilot.press("f", "3", "escape")
        assert len(rows_of(table)) == 40
        # It stays while it matches, comes back when it matches again, and gives way to one the user selects.
        _, table = await show(recording(init() + b"".join(shell(n) for n in range(40))))
        await pilot.press(*"kkkkk")
        before = table.chosen
        assert before is not None
        assert before.target == "echo 34"
        for keys, is_kept in (("f3", True), ("9", False), (["backspace"], True), ("5", False)):
            with case(keys):
                await filtered(table, pilot, *keys)
                assert (table.chosen is before) is is_kept
        assert len(await filtered(table, pilot, "enter", "escape")) == 1
        table.filter_by("")
        assert table.chosen is before
        await filtered(table, pilot, "f", "3", "enter", "k")
        moved = table.chosen
        assert moved is not before
        await filtered(table, pilot, "f", "escape")
        assert table.chosen is moved
        # New calls and later failures are shown, and followed, if they match the filter.
        path = recording(init() + shell(1, 1) + shell(2))
        feed, table = await show(path, follow=True)
        await filtered(table, pilot, "f", *"failed", "enter")
        for new, count in ((shell(3), 1), (shell(4, None), 1), (shell(5, 1), 2)):
            append(path, new)
            feed.advance()
            table.sync(None)
            assert len(rows_of(table)) == count
        assert table.chosen is not None
        assert table.chosen.target == "echo 5"
        append(path, ended("call-4", "shell", {"command": "echo 4"}, {"success": {"exitCode": 1}}))
        feed.advance()
        table.sync(None)
        assert [row.split()[3] for row in rows_of(table)] == ["1", "4", "5"]
        # Markup in the filter is shown as text.
        _, table = await show(recording(init() + shell(1)))
        await filtered(table, pilot, "f", *"[b]", "enter")
        assert '1 hidden by "[b]"' in table.title
        assert '1 hidden by "[b]"' in "\n".join(
            strip.text for strip in pilot.app.screen._compositor.render_strips()
        )
        # `choose_call` selects any call: it opens the call's fold, and drops a filter that hides the call.
        path = recording(init() + reads("a.py", "b.py", "c.py") + shell(1) + shell(2))
        feed, table = await show(path)
        call = feed.session.calls[1]
        table.choose_call(call)
        assert table.chosen is call
        assert rows_of(table)[table.cursor].split()[2] == "b.py"
        await filtered(table, pilot, "f", *"echo", "enter")
        table.choose_call(call)
        assert table.chosen is call
        assert table.title == "2 Calls"


async def test_s_shows_the_slowest_first(recording: Saver) -> None:
    """`s` sorts by duration and selects the slowest call; `s` again sorts by time."""
    args: dict[str, object] = {"command": "slow"}
    begun = 1_793_610_000_000
    slow = started("s", "shell", args, begun) + ended("s", "shell", args, {"success": {}}, begun + 90_000)
    path = recording(init() + shell(1) + slow + b"".join(shell(n) for n in range(2, 40)))
    async with tables() as (show, pilot):
        feed, table = await show(path, follow=True)
        rows = await filtered(table, pilot, "s")
        assert "slow" in rows[0]
        assert table.cursor == 0
        assert viewport(table)[0].endswith(rows[0])
        assert str(table.border_title) == "2 Calls · slowest first"
        append(path, shell(50))
        feed.advance()
        table.sync(None)
        assert table.cursor == 0
        assert table.below == 0
        await pilot.press("G")
        last = table.chosen
        append(path, shell(51))
        feed.advance()
        table.sync(None)
        assert table.chosen is last
        await pilot.press("g")
        rows = await filtered(table, pilot, "s")
        assert "slow" in rows[1]
        assert table.cursor == 1
        assert any("slow" in row for row in viewport(table))
