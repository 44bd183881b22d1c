"""The to-do line shows the items of the agent's latest to-do list and how many are done."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App

from agentwatch.feed.feed import Feed
from agentwatch.screen.panes.header import PlanView
from tests.builders.lines import feed_of
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


@asynccontextmanager
async def plans() -> AsyncIterator[Callable[..., Awaitable[tuple[Feed, PlanView]]]]:
    """Run an app, and return a function that shows the to-do line of a recording in place of the last one."""
    app = App[None]()

    async def show(path: Path, width: int = 80, *, follow: bool = False) -> tuple[Feed, PlanView]:
        feed = feed_of(path, follow=follow)
        await app.screen.remove_children()
        await pilot.resize_terminal(width, 6)
        await app.screen.mount(plan := PlanView(feed.session))
        plan.sync()
        await pilot.pause()
        return feed, plan

    async with app.run_test() as pilot:
        yield show


def lines_shown(plan: PlanView) -> list[str]:
    """Return the lines of the to-do line once it is up to date; an empty list if it is hidden."""
    plan.sync()
    return str(plan.content).split("\n") if plan.has_class("-shown") else []


async def test_the_line_shows_the_list_as_far_as_it_fits(recording: Saver) -> None:
    """One line shows the count and an item, a wide screen all items; text of an agent cannot act."""
    async with plans() as show:
        # In a narrow terminal one line shows the number of items done and the item in progress.
        data = init() + update(1, "✓ Read it", "○ Test it", "◐ Mend nearest.py", "○ Say so")
        _, plan = await show(recording(data))
        assert lines_shown(plan) == ["1 of 4 done · ◐ Mend nearest.py"]
        # Without an item in progress the next open one is shown, or the count alone; long items are cut.
        for items, line in (
            (("✓ A", "○ B", "○ C"), "1 of 3 done · ○ B"),
            (("✓ A", "✗ B"), "to-do list: 1 of 2 done"),
            (("◐ " + "long " * 40,), "0 of 1 done · ◐ long long long long long long long …"),
        ):
            _, plan = await show(recording(init() + update(1, *items)), 54)
            assert lines_shown(plan) == [line]
        # A session without a to-do list, or with an empty one, shows no line.
        _, plan = await show(recording(init() + shell(1)))
        assert lines_shown(plan) == []
        _, plan = await show(recording(init() + update(1, "○ A") + update(2)))
        assert lines_shown(plan) == []
        # From 100 columns the whole list is shown, each item with its sign and none split across lines.
        five = (
            "✓ See the test fail",
            "✓ Find the cause",
            "✗ Ask",
            "◐ Mend nearest.py",
            "○ Run the whole suite",
        )
        _, plan = await show(recording(init() + update(1, *five)), 100)
        assert lines_shown(plan) == [
            "2 of 5 done   ✓ See the test fail   ✓ Find the cause   ✗ Ask   ◐ Mend nearest.py",
            "○ Run the whole suite",
        ]
        # A list without open items takes one line with the count, at every width.
        _, plan = await show(bundled("demo"), 160)
        assert lines_shown(plan) == ["to-do list: 5 of 5 done"]
        # Items beyond three lines are counted; completed items are left out first.
        many = [f"{'✓' if number < 12 else '○'} the step of the number {number}" for number in range(40)]
        _, plan = await show(recording(init() + update(1, *many)), 100)
        lines = lines_shown(plan)
        assert len(lines) == 3
        assert lines[0].startswith("12 of 40 done   ○ the step of the number 12   ○")
        shown_items = "".join(lines).count("○")
        assert lines[-1].endswith(f"… {40 - 12 - shown_items} more")
        assert max(map(len, lines)) <= 98
        # Markup and escape sequences in an item are shown as text.
        _, plan = await show(recording(init() + update(1, "◐ [b]x[/] \x1b[31m")))
        assert lines_shown(plan) == ["0 of 1 done · ◐ [b]x[/] ␛[31m"]
        # The line ends of an item are shown as signs, and the item stays one.
        two = [
            {"content": "a\nb", "status": "TODO_STATUS_IN_PROGRESS"},
            {"content": "c", "status": "TODO_STATUS_COMPLETED"},
        ]
        call = ended("todo", "updateTodos", {}, {"success": {"todos": two}})
        _, plan = await show(recording(init() + call))
        assert lines_shown(plan) == ["1 of 2 done · ◐ a␊b"]


async def test_the_newest_list_is_shown(recording: Saver) -> None:
    """The list of the last successful call is shown; a merge keeps the other items."""
    async with plans() as show:
        # The list of the last successful call is shown; running and failed calls do not change it.
        path = recording(init() + update(1, "◐ A", "○ B"))
        feed, plan = await show(path, follow=True)
        with path.open("ab") as file:
            file.write(update(2, "✓ A", "◐ B"))
            args: dict[str, object] = {"todos": todos("○ C")}
            file.write(started("todo-3", "updateTodos", args))
            file.write(ended("todo-3", "updateTodos", args, {"error": {"error": "no"}}))
        feed.advance()
        assert lines_shown(plan) == ["1 of 2 done · ◐ B"]
        # A merging call without a list in its result updates the items of equal text and keeps the others.
        first = init() + update(1, "◐ A", "○ B")
        merge = update(2, "✓ A", "◐ C", merge=True, repeats=False)
        _, plan = await show(recording(first + merge))
        assert lines_shown(plan) == ["1 of 3 done · ◐ C"]
        path = recording(first)
        feed, plan = await show(path, follow=True)
        with path.open("ab") as file:
            file.write(merge)
        feed.advance()
        assert lines_shown(plan) == ["1 of 3 done · ◐ C"]
        with path.open("ab") as file:
            file.write(update(3, "○ D", repeats=False))
        feed.advance()
        assert lines_shown(plan) == ["0 of 1 done · ○ D"]
