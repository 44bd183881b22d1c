"""Clicks and the wheel in the list."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from agentwatch.agents.reported import State
from agentwatch.screen.screens.sessions import requests
from agentwatch.screen.screens.sessions.list import SessionList
from tests.builders.home.home_app import chosen_id, home_of, row, working

pytestmark = pytest.mark.slow

NARROW = (40, 12)


async def click(pilot: Pilot[None], sessions: SessionList, y: int, times: int = 1) -> None:
    """Click a row of the list."""
    assert await pilot.click(sessions, offset=(10, y + sessions.styles.gutter.top), times=times)
    await pilot.pause()


@pytest.mark.system
async def test_a_click_selects_and_a_double_click_opens() -> None:
    """A click on a heading, and below the last session, does nothing."""
    async with home_of([row("ask", State.ASKS), *working(2)]) as (app, pilot):
        sessions = app.home.sessions
        await click(pilot, sessions, 3)
        assert chosen_id(app) == "s0000"
        for y in (2, 12):
            await click(pilot, sessions, y)
            assert chosen_id(app) == "s0000"
        await click(pilot, sessions, 4, times=2)
        assert chosen_id(app) == "s0001"
        opened = [each for each in app.posted if isinstance(each, requests.Opened)]
        assert [each.row.id for each in opened] == ["s0001"]


@pytest.mark.system
async def test_a_click_on_either_row_selects_the_session() -> None:
    """Where a session takes two rows, both belong to it."""
    async with home_of(working(3), NARROW) as (app, pilot):
        for y, name in ((1, "s0000"), (2, "s0000"), (4, "s0001"), (3, "s0001"), (5, "s0002")):
            await click(pilot, app.home.sessions, y)
            assert chosen_id(app) == name


async def test_the_wheel_scrolls() -> None:
    """The wheel moves the rows and not the selection."""
    async with home_of(working(100), (100, 20)) as (app, pilot):
        sessions = app.home.sessions
        sessions.scroll_down(animate=False, immediate=True)
        await pilot.pause()
        assert sessions.scroll_offset.y > 0
        assert chosen_id(app) == "s0000"
