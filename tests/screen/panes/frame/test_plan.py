"""The to-do line shows the items of the agent's latest to-do list and how many are done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.header import PlanView
from tests.builders.screen.app import bundled
from tests.builders.screen.lines import ended, init, shell, started
from tests.conftest import Saver

pytestmark = pytest.mark.slow

STATES = {"✓": "COMPLETED", "◐": "IN_PROGRESS", "○": "PENDING", "✗": "CANCELLED"}


def todos(*items: str) -> list[object]:
    """Return to-do items in the wire format, given as `✓ Read it`."""
    return [{"content": item[2:], "status": f"TODO_STATUS_{STATES[item[0]]}"} for item in items]


def update(number: int, *items: str, merge: bool = False, repeats: bool = True) -> bytes:
    """Return a call that sets the to-do list; with `repeats=False` its result does not hold it."""
    call_id, args = f"todo-{number}", {"todos": todos(*items), "merge": merge}
    success = {"todos": args["todos"]} if repeats else {}
    return started(call_id, "updateTodos", dict(args)) + ended(
        call_id, "updateTodos", dict(args), {"success": success}
    )


class TodoApp(App[None]):
    """An app with the to-do line only."""

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.todo = PlanView(feed.session)

    def compose(self) -> ComposeResult:
        """Yield the line."""
        yield self.todo


@asynccontextmanager
async def shown(path: Path, width: int = 80, *, follow: bool = False) -> AsyncIterator[tuple[Feed, TodoApp]]:
    """Show the to-do line of a recording."""
    feed = Feed(open_saved(path, follow))
    feed.advance()
    app = TodoApp(feed)
    async with app.run_test(size=(width, 6)) as pilot:
        await lines_shown(app, pilot)
        yield feed, app


async def lines_shown(app: TodoApp, pilot: Pilot[None] | None = None) -> list[str]:
    """Return the lines of the to-do line once it is up to date; an empty list if it is hidden."""
    app.todo.sync()
    if pilot is not None:
        await pilot.pause()
    return str(app.todo.content).split("\n") if app.todo.has_class("-shown") else []


async def test_the_line_shows_the_count_and_the_item_in_progress(recording: Saver) -> None:
    """In a narrow terminal one line shows the number of items done and the item in progress."""
    data = init() + update(1, "✓ Read it", "○ Test it", "◐ Mend nearest.py", "○ Say so")
    async with shown(recording(data)) as (_, app):
        assert await lines_shown(app) == ["1 of 4 done · ◐ Mend nearest.py"]


@pytest.mark.parametrize(
    ("items", "line"),
    [
        (("✓ A", "○ B", "○ C"), "1 of 3 done · ○ B"),
        (("✓ A", "✗ B"), "to-do list: 1 of 2 done"),
        (("◐ " + "long " * 40,), "0 of 1 done · ◐ long long long long long long long …"),
    ],
)
async def test_the_line_shows_the_next_item(recording: Saver, items: tuple[str, ...], line: str) -> None:
    """Without an item in progress the next open one is shown, or the count alone; long items are cut."""
    async with shown(recording(init() + update(1, *items)), 54) as (_, app):
        assert await lines_shown(app) == [line]


async def test_without_a_list_there_is_no_line(recording: Saver) -> None:
    """A session without a to-do list, or with an empty one, shows no line."""
    async with shown(recording(init() + shell(1))) as (_, app):
        assert await lines_shown(app) == []
    async with shown(recording(init() + update(1, "○ A") + update(2))) as (_, app):
        assert await lines_shown(app) == []


async def test_a_wide_screen_has_every_item(recording: Saver) -> None:
    """From 100 columns the whole list is shown, each item with its sign and none split across lines."""
    items = ("✓ See the test fail", "✓ Find the cause", "✗ Ask", "◐ Mend nearest.py", "○ Run the whole suite")
    async with shown(recording(init() + update(1, *items)), 100) as (_, app):
        assert await lines_shown(app) == [
            "2 of 5 done   ✓ See the test fail   ✓ Find the cause   ✗ Ask   ◐ Mend nearest.py",
            "○ Run the whole suite",
        ]


async def test_a_completed_list_takes_one_line() -> None:
    """A list without open items takes one line with the count, at every width."""
    async with shown(bundled("demo"), 160) as (_, app):
        assert await lines_shown(app) == ["to-do list: 5 of 5 done"]


async def test_a_long_list_begins_at_its_first_open_item(recording: Saver) -> None:
    """Items beyond three lines are counted; completed items are left out first."""
    items = [f"{'✓' if number < 12 else '○'} the step of the number {number}" for number in range(40)]
    async with shown(recording(init() + update(1, *items)), 100) as (_, app):
        lines = await lines_shown(app)
        assert len(lines) == 3
        assert lines[0].startswith("12 of 40 done   ○ the step of the number 12   ○")
        shown_items = "".join(lines).count("○")
        assert lines[-1].endswith(f"… {40 - 12 - shown_items} more")
        assert max(map(len, lines)) <= 98


async def test_the_newest_list_is_shown(recording: Saver) -> None:
    """The list of the last successful call is shown; running and failed calls do not change it."""
    path = recording(init() + update(1, "◐ A", "○ B"))
    async with shown(path, follow=True) as (feed, app):
        with path.open("ab") as file:
            file.write(update(2, "✓ A", "◐ B"))
            args: dict[str, object] = {"todos": todos("○ C")}
            file.write(started("todo-3", "updateTodos", args))
            file.write(ended("todo-3", "updateTodos", args, {"error": {"error": "no"}}))
        feed.advance()
        assert await lines_shown(app) == ["1 of 2 done · ◐ B"]


async def test_a_merge_keeps_the_other_items(recording: Saver) -> None:
    """A merging call without a list in its result updates the items of equal text and keeps the others."""
    first = init() + update(1, "◐ A", "○ B")
    merge = update(2, "✓ A", "◐ C", merge=True, repeats=False)
    async with shown(recording(first + merge)) as (_, app):
        assert await lines_shown(app) == ["1 of 3 done · ◐ C"]
    path = recording(first)
    async with shown(path, follow=True) as (feed, app):
        with path.open("ab") as file:
            file.write(merge)
        feed.advance()
        assert await lines_shown(app) == ["1 of 3 done · ◐ C"]
        with path.open("ab") as file:
            file.write(update(3, "○ D", repeats=False))
        feed.advance()
        assert await lines_shown(app) == ["0 of 1 done · ○ D"]


async def test_foreign_text_cannot_act(recording: Saver) -> None:
    """Markup and escape sequences in an item are shown as text."""
    async with shown(recording(init() + update(1, "◐ [b]x[/] \x1b[31m"))) as (_, app):
        assert await lines_shown(app) == ["0 of 1 done · ◐ [b]x[/] ␛[31m"]


async def test_an_item_of_several_lines_is_one(recording: Saver) -> None:
    """The line ends of an item are shown as signs, and the item stays one."""
    items = [
        {"content": "a\nb", "status": "TODO_STATUS_IN_PROGRESS"},
        {"content": "c", "status": "TODO_STATUS_COMPLETED"},
    ]
    call = ended("todo", "updateTodos", {}, {"success": {"todos": items}})
    async with shown(recording(init() + call)) as (_, app):
        assert await lines_shown(app) == ["1 of 2 done · ◐ a␊b"]
