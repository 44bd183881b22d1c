"""In the goto box, bookmarks are named and deleted, and those of other viewers appear."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.screen.app import eventually
from tests.builders.screen.goto_box import ROWS, box, end_of, type_in
from tests.builders.screen.marked import marks_of

pytestmark = pytest.mark.slow


@pytest.mark.system
async def test_the_bookmark_of_the_moment_is_selected(path: Path) -> None:
    """Right after `b`, the box opens with the new bookmark selected: ctrl+r names it."""
    async with box(path, end_of(1)) as (app, pilot):
        assert app.chosen == app.rows[0]
        await pilot.press("ctrl+r")
        assert (app.typed, app.note) == ("name before the rewrite", "the name of the bookmark at 09:00:02")
        await pilot.press("ctrl+u")
        await type_in(pilot, "after all")
        await pilot.press("enter")
        assert (app.typed, app.rows[0].strip()) == ("> ", '09:00:02  ◈ bookmark "after all"')
        assert app.given == []
        await pilot.press("enter")
        assert app.given == [end_of(1)]


@pytest.mark.system
async def test_any_moment_gets_a_name(path: Path) -> None:
    """A marker that is selected, a moment that is typed, or else the present one, becomes a bookmark."""
    async with box(path, end_of(3)) as (app, pilot):
        await pilot.press("ctrl+r", "o", "n", "e", "enter")
        await type_in(pilot, "#4")
        await pilot.press("ctrl+r", "t", "w", "o", "enter", "ctrl+u")
        await type_in(pilot, "echo 2")
        await pilot.press("ctrl+r", "x", "escape", "ctrl+r", "r", "enter")
        named = [(each.offset, each.name) for each in app.marks.bookmarks]
        assert named == [
            (end_of(1), "before the rewrite"),
            (end_of(2), "r"),
            (end_of(3), "one"),
            (end_of(4), "two"),
        ]
        assert app.typed == "> echo 2"


@pytest.mark.system
async def test_esc_keeps_the_name(path: Path) -> None:
    """Esc ends naming without a change, and leaves the box only when pressed again."""
    async with box(path, end_of(1)) as (app, pilot):
        await pilot.press("ctrl+r", "z", "escape")
        assert (app.given, app.rows[0].strip()) == ([], ROWS[0])
        await pilot.press("escape")
        assert app.given == [None]


async def test_a_bookmark_is_deleted(path: Path) -> None:
    """Ctrl+x removes the selected bookmark, and no marker."""
    async with box(path) as (app, pilot):
        await pilot.press("down", "down", "ctrl+x")
        assert len(app.rows) == 3
        await pilot.press("up", "ctrl+x")
        await pilot.pause()
        assert [row.strip() for row in app.rows] == ROWS[1:]
        assert len(app.marks.bookmarks) == 0


@pytest.mark.system
async def test_another_viewers_bookmarks_appear(path: Path) -> None:
    """What another viewer sets or removes is listed, and the selected row stays selected."""
    async with box(path) as (app, pilot):
        await pilot.press("down", "down")
        assert app.chosen == app.rows[1]
        other = marks_of(path)
        other.toggle(0)
        await eventually(pilot, lambda: len(app.rows) == 4, "the other bookmark")
        assert (app.chosen or "").strip() == ROWS[1]
        other.toggle(end_of(1))
        await eventually(pilot, lambda: len(app.rows) == 3, "one bookmark less")
        assert (app.chosen or "").strip() == ROWS[1]


@pytest.mark.system
async def test_a_name_cannot_control_the_terminal(path: Path) -> None:
    """Control characters and markup in the name of a bookmark are text."""
    async with box(path, end_of(1), name="\x1b[2J[/] [red]\u202e") as (app, pilot):
        assert app.rows[0].strip() == '09:00:02  ◈ bookmark "␛[2J[/] [red]<U+202E>"'
        await pilot.press("ctrl+r")
        assert app.typed == "name ␛[2J[/] [red]<U+202E>"
        await pilot.press("escape", "ctrl+x")
        assert len(app.marks.bookmarks) == 0
