"""The mouse seeks in the time bar, and shows what is below it."""

from __future__ import annotations

import pytest

from agentwatch.screen.panes.time_bar import TimeBar
from agentwatch.text.safe import SafeText
from tests.builders.screen.app import eventually
from tests.builders.screen.app import opened as opened_session
from tests.builders.screen.bar_app import PLAYING, opened, recorded, runs, time_of
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.slow


async def test_a_click_seeks() -> None:
    """A click posts the moment of its column; before the bar it is the beginning, after it the end."""
    made = recorded()
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, made.size, SafeText(""))
        failure = app.row.index("✗")
        for x in (failure, 0, 79):
            await pilot.click(app.bar, offset=(x, 0))
        assert app.sought == [900, 0, made.size]


@pytest.mark.system
async def test_a_drag_seeks() -> None:
    """While the button is pressed, the bar posts each new moment once, also outside its row."""
    made = recorded()
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, made.size, SafeText(""))
        await pilot.hover(app.bar, offset=(20, 0))
        assert app.sought == []
        await pilot.mouse_down(app.bar, offset=(20, 0))
        await pilot.hover(app.bar, offset=(50, 0))
        await pilot.hover(offset=(50, 3))
        await pilot.hover(offset=(30, 3))
        await pilot.mouse_up(offset=(30, 3))
        await pilot.hover(app.bar, offset=(60, 0))
        assert len(app.sought) == 3
        assert app.sought[0] < app.sought[2] < app.sought[1]


async def test_another_button_does_not_seek() -> None:
    """Only the left button seeks."""
    made = recorded()
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, made.size, SafeText(""))
        await pilot.click(app.bar, offset=(30, 0), button=3)
        assert app.sought == []
        await pilot.click(app.bar, offset=(30, 0))
        assert len(app.sought) == 1


@pytest.mark.system
@pytest.mark.parametrize("width", [40, 80, 160])
async def test_the_time_below_the_mouse(width: int) -> None:
    """The time below the mouse stands at the right while the mouse is over the bar; the bar does not move."""
    made = recorded()
    async with opened(width) as (app, pilot):
        app.bar.show(made.session, made, 1100, PLAYING)
        before = app.row
        handle = app.row.index("✗")
        await pilot.hover(app.bar, offset=(handle, 0))
        shown = app.row
        end = before.index("▕") + 1
        assert shown[:end] == before[:end]
        [time] = shown[end:].split()
        assert time_of(40_000) <= time <= time_of(40_000 + 100_000 // (width // 2))
        await pilot.hover(offset=(0, 3))
        await eventually(pilot, lambda: app.row == before, "the row as it was")


async def test_the_bookmark_below_the_mouse() -> None:
    """The name of a bookmark below the mouse stands beside its time, made safe and cut to the room."""
    made = recorded()
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, made.size, SafeText(""), [(500, "b\x1be the long rewrite")])
        await pilot.hover(app.bar, offset=(app.row.index("◈"), 0))
        assert " · b␛…" in app.row
        assert app.bar.render_line(0).cell_length == 80


async def test_the_ribbon() -> None:
    """From 100 columns on, the test runs stand beside the bar; a click goes to the call of one."""
    made = recorded()
    verdicts = runs(made, 12, 9, 1, 0)
    async with opened(120) as (app, pilot):
        app.bar.show(made.session, made, made.size, SafeText(""), (), verdicts)
        assert " ✗12 ✗9 ✗1 ✓ " in app.row
        await pilot.click(app.bar, offset=(app.row.index("✗9") + 1, 0))
        [chosen] = app.posted
        assert isinstance(chosen, TimeBar.VerdictChosen)
        assert (chosen.offset, chosen.number) == (500, 2)
        await pilot.resize_terminal(90, 4)
        await eventually(pilot, lambda: "✗12" not in app.row, "a narrower row")


@pytest.mark.system
async def test_a_click_on_the_end_returns_to_live() -> None:
    """A click at the right of the bar shows the live moment; the bar is hidden, and the keys still work."""
    async with opened_session(RECORDINGS / "demo.ndjson") as stage:
        bar = stage.app.screen.query_one(TimeBar)
        await stage.press("comma")
        await stage.until(lambda: bar.display, "the bar")
        await stage.pilot.click(bar, offset=(bar.size.width - 1, 0))
        await stage.until(lambda: not bar.display, "the live moment")
        assert stage.app.mouse_captured is None
        assert stage.focus == "transcript"
        await stage.press("comma")
        await stage.until(lambda: bar.display, "the bar again")
