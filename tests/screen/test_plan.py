"""The to-do line: what the agent has done of what it set out to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agentwatch.events import Part
from agentwatch.feed import Feed
from agentwatch.recording import open_saved
from agentwatch.screen.plan import Todo, TodoLine, read_todos
from tests.builders.screen.app import bundled
from tests.builders.screen.lines import ended, init, shell, started
from tests.conftest import Saver

STATES = {"✓": "COMPLETED", "◐": "IN_PROGRESS", "○": "PENDING", "✗": "CANCELLED"}


def todos(*items: str) -> list[object]:
    """Return items as the wire has them: `✓ Read it`."""
    return [{"content": item[2:], "status": f"TODO_STATUS_{STATES[item[0]]}"} for item in items]


def update(number: int, *items: str, merge: bool = False, told: bool = True) -> bytes:
    """Return a call that sets the list; without `told` its result does not repeat it."""
    call_id, args = f"todo-{number}", {"todos": todos(*items), "merge": merge}
    success = {"todos": args["todos"]} if told else {}
    return started(call_id, "updateTodos", dict(args)) + ended(
        call_id, "updateTodos", dict(args), {"success": success}
    )


class TodoApp(App[None]):
    """The line alone."""

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.todo = TodoLine(feed)

    def compose(self) -> ComposeResult:
        """Show it."""
        yield self.todo


@asynccontextmanager
async def shown(path: Path, width: int = 80, *, follow: bool = False) -> AsyncIterator[tuple[Feed, TodoApp]]:
    """Show the line of a recording."""
    feed = Feed(open_saved(path, follow))
    feed.advance()
    app = TodoApp(feed)
    async with app.run_test(size=(width, 6)) as pilot:
        await told(app, pilot)
        yield feed, app


async def told(app: TodoApp, pilot: Pilot[None] | None = None) -> list[str]:
    """Return the lines that it shows once it has taken what is new."""
    app.todo.sync()
    if pilot is not None:
        await pilot.pause()
    return str(app.todo.content).split("\n") if app.todo.has_class("-shown") else []


async def test_the_line_tells_the_count_and_the_item_in_progress(recording: Saver) -> None:
    """Where there is little room it is one line: how much is done, and what is being done."""
    data = init() + update(1, "✓ Read it", "○ Test it", "◐ Mend nearest.py", "○ Say so")
    async with shown(recording(data)) as (_, app):
        assert await told(app) == ["1 of 4 done · ◐ Mend nearest.py"]


@pytest.mark.parametrize(
    ("items", "line"),
    [
        (("✓ A", "○ B", "○ C"), "1 of 3 done · ○ B"),
        (("✓ A", "✗ B"), "to-do list: 1 of 2 done"),
        (("◐ " + "long " * 40,), "0 of 1 done · ◐ long long long long long long long …"),
    ],
)
async def test_the_line_tells_what_is_next(recording: Saver, items: tuple[str, ...], line: str) -> None:
    """With nothing in progress the next item is told, at the end the count alone; a long item is cut."""
    async with shown(recording(init() + update(1, *items)), 54) as (_, app):
        assert await told(app) == [line]


async def test_without_a_list_there_is_no_line(recording: Saver) -> None:
    """A session without a to-do list, or with an empty one, gives the line no room."""
    async with shown(recording(init() + shell(1))) as (_, app):
        assert await told(app) == []
    async with shown(recording(init() + update(1, "○ A") + update(2))) as (_, app):
        assert await told(app) == []


async def test_a_wide_screen_has_every_item(recording: Saver) -> None:
    """From 100 columns on the whole list is shown, each item with its sign, none cut in two."""
    items = ("✓ See the test fail", "✓ Find the cause", "✗ Ask", "◐ Mend nearest.py", "○ Run the whole suite")
    async with shown(recording(init() + update(1, *items)), 100) as (_, app):
        assert await told(app) == [
            "2 of 5 done   ✓ See the test fail   ✓ Find the cause   ✗ Ask   ◐ Mend nearest.py",
            "○ Run the whole suite",
        ]


async def test_a_list_that_is_done_takes_one_line() -> None:
    """Once nothing is open any more, the count is enough at every width."""
    async with shown(bundled("demo"), 160) as (_, app):
        assert await told(app) == ["to-do list: 5 of 5 done"]


async def test_a_long_list_begins_at_its_first_open_item(recording: Saver) -> None:
    """What does not fit into three lines is counted; what is done already gives way first."""
    items = [f"{'✓' if number < 12 else '○'} the step of the number {number}" for number in range(40)]
    async with shown(recording(init() + update(1, *items)), 100) as (_, app):
        lines = await told(app)
        assert len(lines) == 3
        assert lines[0].startswith("12 of 40 done   ○ the step of the number 12   ○")
        shown_items = "".join(lines).count("○")
        assert lines[-1].endswith(f"… {40 - 12 - shown_items} more")
        assert max(map(len, lines)) <= 98


async def test_the_newest_list_is_shown(recording: Saver) -> None:
    """The list of the last call that succeeded stands until another has ended."""
    path = recording(init() + update(1, "◐ A", "○ B"))
    async with shown(path, follow=True) as (feed, app):
        with path.open("ab") as file:
            file.write(update(2, "✓ A", "◐ B"))
            args: dict[str, object] = {"todos": todos("○ C")}
            file.write(started("todo-3", "updateTodos", args))
            file.write(ended("todo-3", "updateTodos", args, {"error": {"error": "no"}}))
        feed.advance()
        assert await told(app) == ["1 of 2 done · ◐ B"]


async def test_a_merge_keeps_the_other_items(recording: Saver) -> None:
    """Of a call that only merges, and whose result is silent, the given items replace those of their text."""
    first = init() + update(1, "◐ A", "○ B")
    merge = update(2, "✓ A", "◐ C", merge=True, told=False)
    async with shown(recording(first + merge)) as (_, app):
        assert await told(app) == ["1 of 3 done · ◐ C"]
    path = recording(first)
    async with shown(path, follow=True) as (feed, app):
        with path.open("ab") as file:
            file.write(merge)
        feed.advance()
        assert await told(app) == ["1 of 3 done · ◐ C"]
        with path.open("ab") as file:
            file.write(update(3, "○ D", told=False))
        feed.advance()
        assert await told(app) == ["0 of 1 done · ○ D"]


async def test_foreign_text_cannot_act(recording: Saver) -> None:
    """An item is shown as what it says, markup and escapes included."""
    async with shown(recording(init() + update(1, "◐ [b]x[/] \x1b[31m"))) as (_, app):
        assert await told(app) == ["0 of 1 done · ◐ [b]x[/] ␛[31m"]


def test_an_item_of_several_lines_is_one() -> None:
    """A line without a sign belongs to the item before it; parts without a list have none."""
    assert read_todos([Part("to-do list", "✓ a\nb\n○ c")]) == [Todo("✓", "a b"), Todo("○", "c")]
    assert read_todos([Part("result", "✓ a")]) is None
