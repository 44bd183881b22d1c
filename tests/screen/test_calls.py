"""The table of calls: a row for each, drawn from the call as it stands at the time that it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agentwatch.feed import Feed
from agentwatch.recording import open_saved
from agentwatch.screen.calls import CallTable
from tests.screen.conftest import (
    CWD,
    PaneApp,
    bundled,
    ended,
    init,
    lines_of,
    result,
    shell,
    started,
    viewport,
)

Saver = Callable[[bytes], Path]


@asynccontextmanager
async def shown(
    path: Path, size: tuple[int, int] = (70, 12), *, follow: bool = False
) -> AsyncIterator[tuple[Feed, CallTable, Pilot[None]]]:
    """Show the table of a recording in a terminal of its own, focused."""
    feed = Feed(open_saved(path, follow))
    table = CallTable(feed)
    app = PaneApp(table)
    async with app.run_test(size=size) as pilot:
        table.focus()
        feed.advance()
        table.sync(None)
        await pilot.pause()
        yield feed, table, pilot


def append(path: Path, data: bytes) -> None:
    """Let a recording grow."""
    with path.open("ab") as file:
        file.write(data)


async def test_a_row_for_each_call() -> None:
    """A row tells sign, tool, target, what is known of the outcome, and the duration."""
    async with shown(bundled("failures"), (100, 12)) as (_, table, _):
        rows = [row.split() for row in lines_of(table)]
        assert rows[0] == ["✗", "shell", "make", "lint", "exit", "2", "2.3", "s"]
        assert [row[:2] for row in rows] == [
            ["✗", "shell"],
            ["✗", "shell"],
            ["✗", "edit"],
            ["✗", "shell"],
            ["✗", "shell"],
            ["✗", "mcp"],
        ]


@pytest.mark.parametrize(
    ("name", "signs"), [("rejected", "⊘⊘⊘"), ("unfinished", "✓◌"), ("parallel", "✓✓✓"), ("hostile", "✓✗✓✓⊘◌")]
)
async def test_each_outcome_has_its_sign(name: str, signs: str) -> None:
    """How a call ended can be read without its colour."""
    async with shown(bundled(name)) as (_, table, _):
        assert "".join(row[0] for row in lines_of(table)) == signs


async def test_a_running_clock_shows_the_time_that_it_is(recording: Saver) -> None:
    """A running call's clock is the time since its start reached us, computed when it is drawn."""
    path = recording(init() + shell(1, None))
    path.with_suffix(".times").write_text("0 1000\n")
    async with shown(path, follow=True) as (feed, table, _):
        clocks = []
        for now_ms in (1000, 1042, 2500, 62_000, 3_734_000):
            table.tick(now_ms)
            clocks.append(lines_of(table)[0].split("echo 1")[1].strip())
        assert clocks == ["0 ms", "42 ms", "1.5 s", "1:01", "1:02:13"]
        append(path, ended("call-1", "shell", {"command": "echo 1"}, {"success": {"exitCode": 0}}))
        feed.advance()
        table.sync(9_000_000)
        assert lines_of(table)[0].split() == ["✓", "shell", "echo", "1", "1.5", "s"]


async def test_an_unknown_duration_is_a_dash(recording: Saver) -> None:
    """Without a clock that gave both ends there is no duration, and none is invented."""
    args: dict[str, object] = {"command": "true"}
    alone = ended("a", "shell", args, {"success": {"exitCode": 0}})
    async with shown(recording(init() + alone + shell(2, None)), follow=True) as (_, table, _):
        assert [row.split()[-1] for row in lines_of(table)] == ["–", "–"]


async def test_the_newest_call_is_chosen(recording: Saver) -> None:
    """The cursor goes to each new call until the user moves it up, and again from the end on."""
    path = recording(init() + b"".join(shell(n) for n in range(20)))
    async with shown(path, follow=True) as (feed, table, pilot):

        def come(first: int, count: int) -> None:
            append(path, b"".join(shell(n) for n in range(first, first + count)))
            feed.advance()
            table.sync(None)

        def chosen() -> str | None:
            return table.chosen.target if table.chosen else None

        assert chosen() == "echo 19"
        come(20, 2)
        assert chosen() == "echo 21"
        await pilot.press("k")
        assert chosen() == "echo 20"
        seen = viewport(table)
        come(22, 5)
        await pilot.pause()
        assert chosen() == "echo 20"
        assert viewport(table) == seen
        assert str(table.border_subtitle) == "5 new below ▾"
        await pilot.press("G")
        assert chosen() == "echo 26"
        come(27, 30)
        await pilot.pause()
        assert chosen() == "echo 56"
        assert "echo 56" in viewport(table)[-1]


@pytest.mark.parametrize(
    ("keys", "row"),
    [("g", 0), ("gj", 1), ("gjjk", 1), ("gG", 29), ("k", 28), ("gk", 0), ("j", 29)],
)
async def test_keys_move_the_cursor(recording: Saver, keys: str, row: int) -> None:
    """The cursor moves by a row, to the first and to the last, and stops at both."""
    path = recording(init() + b"".join(shell(n) for n in range(30)))
    async with shown(path) as (_, table, pilot):
        await pilot.press(*keys)
        assert table.cursor == row
        assert any(f"echo {row} " in line for line in viewport(table))


async def test_page_keys_move_the_cursor_by_a_page(recording: Saver) -> None:
    """A page is one row less than there is room for."""
    path = recording(init() + b"".join(shell(n) for n in range(30)))
    async with shown(path) as (_, table, pilot):
        await pilot.press("pageup", "pageup")
        assert table.cursor == 29 - 2 * 9
        await pilot.press("pagedown")
        assert table.cursor == 29 - 9
        await pilot.press("home", "end")
        assert table.cursor == 29


async def test_a_click_chooses_the_row(recording: Saver) -> None:
    """The row below the mouse is chosen."""
    path = recording(init() + b"".join(shell(n) for n in range(30)))
    async with shown(path) as (_, table, pilot):
        await pilot.press("g")
        await pilot.click(table, offset=(8, 4))
        assert table.cursor == 3


async def test_a_click_below_the_rows_chooses_none(recording: Saver) -> None:
    """Where there is no row, a click changes nothing."""
    async with shown(recording(init() + shell(1) + shell(2))) as (_, table, pilot):
        await pilot.press("g")
        await pilot.click(table, offset=(8, 8))
        assert table.cursor == 0


async def test_failures_are_found_in_both_directions(recording: Saver) -> None:
    """The next and the previous call that failed or was rejected are chosen; at the last it stays."""
    codes = [1 if n in (3, 7, 12) else 0 for n in range(20)]
    path = recording(init() + b"".join(shell(n, code) for n, code in enumerate(codes)))
    async with shown(path) as (_, table, _):
        rows = []
        for step in (1, -1, -1, -1, -1, 1, 1, 1):
            found = table.choose_failure(step)
            rows.append((found, table.cursor))
        assert rows == [
            *((False, 19), (True, 12), (True, 7), (True, 3)),
            *((False, 3), (True, 7), (True, 12), (False, 12)),
        ]


async def test_an_unfinished_call_counts_as_no_failure() -> None:
    """A call of which nothing is known is not a failure; a rejected one is."""
    async with shown(bundled("hostile")) as (_, table, _):
        found = []
        while table.choose_failure(-1):
            found.append(table.cursor)
        assert found == [4, 1]


async def test_a_long_path_keeps_its_name(recording: Saver) -> None:
    """Of a path that is too long the end stays, which names the file."""
    path: dict[str, object] = {"path": f"{CWD}/one/two/three/four/five/six/seven/eight/nine/ten/name.py"}
    call = started("a", "read", path) + ended("a", "read", path, {"success": {"totalLines": 4}})
    async with shown(recording(init() + call), (56, 10)) as (_, table, _):
        row = lines_of(table)[0]
        assert "…" in row
        assert "/ten/name.py" in row
        assert "one/two" not in row


async def test_a_long_path_of_wide_characters_keeps_its_name(recording: Saver) -> None:
    """Wide characters are cut by columns, and the row is exactly as wide as the others."""
    path: dict[str, object] = {"path": f"{CWD}/{'東京' * 30}.md"}
    call = started("a", "read", path) + ended("a", "read", path, {"success": {"totalLines": 4}})
    async with shown(recording(init() + call + shell(2)), (56, 10)) as (_, table, _):
        width = table.scrollable_content_region.width
        assert {table.draw(y, width).cell_length for y in range(2)} == {width}
        assert "京.md" in lines_of(table)[0]


async def test_a_long_command_keeps_its_beginning(recording: Saver) -> None:
    """Of a command that is too long the beginning stays."""
    args: dict[str, object] = {"command": "grep -rn " + "needle " * 20}
    call = started("a", "shell", args) + ended("a", "shell", args, {"success": {"exitCode": 0}})
    async with shown(recording(init() + call), (56, 10)) as (_, table, _):
        row = lines_of(table)[0]
        assert "grep -rn needle" in row
        assert "…" in row
        assert row.endswith("1.5 s")


async def test_the_note_gives_way_to_the_target(recording: Saver) -> None:
    """What is known of the outcome has a column where there is room, less in less, and then none."""
    args: dict[str, object] = {"command": "make the whole of it"}
    reason = {"error": {"error": "No space left on the device"}}
    path = recording(init() + started("a", "shell", args) + ended("a", "shell", args, reason))
    notes = []
    for width in (90, 50, 32):
        async with shown(path, (width, 10)) as (_, table, _):
            row = lines_of(table)[0]
            assert "make the" in row
            notes.append(row.partition("No space")[1] + row.partition("No space")[2])
    assert notes[0].startswith("No space left")
    assert notes[2] == ""


@pytest.mark.parametrize("width", [1, 3, 10, 20, 40, 64, 200])
async def test_rows_fit_at_every_width(width: int) -> None:
    """A row takes the width of the pane, and from 16 columns on its clock is in view."""
    async with shown(bundled("demo"), (width + 4, 12)) as (_, table, _):
        room = table.scrollable_content_region.width
        assert {table.render_line(y).cell_length for y in range(5)} == {room}
        if width > 15:
            assert {table.draw(y, room).cell_length for y in range(table.line_count())} == {room}


async def test_the_chosen_call_is_copied_as_an_action(recording: Saver) -> None:
    """What is copied of the chosen call is its line of the text format."""
    async with shown(recording(init() + shell(1, 2) + shell(2) + result(""))) as (_, table, pilot):
        await pilot.press("k")
        assert table.chosen_text() == "Ran terminal command echo 1 (failed: exit 2)"
