"""The session box, alone."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from agentwatch.analysis.unread import Play
from agentwatch.base.files import stylesheets
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.box import TABS, BoxList, BoxState, SessionBox
from tests.builders.screen.app import eventually


def box_of(
    *lists: BoxList[Any], play: Callable[[], Play | None] = lambda: None, state: BoxState | None = None
) -> SessionBox:
    """Return a session box of these lists, in its first tabs."""
    return SessionBox(dict(zip(TABS, lists, strict=False)), state or BoxState(), play)


class ScreenApp(App[None]):
    """An app that opens a session box on a feed."""

    CSS_PATH = stylesheets()

    def __init__(self, feed: Feed, opened: SessionBox) -> None:
        super().__init__()
        self.feed = feed
        self.opened = opened
        self.given: list[Any] = []
        """The results with which the screen was dismissed."""

    def on_mount(self) -> None:
        """Open the screen."""
        self.push_screen(self.opened, self.given.append)

    async def again(self, pilot: Pilot[None], opened: SessionBox) -> None:
        """Open a screen in the place of the one before, until it is up to date."""
        if self.screen is self.opened:
            await self.pop_screen()
        self.opened = opened
        self.given.clear()
        self.push_screen(opened, self.given.append)
        await until_at_rest(self, pilot)


@asynccontextmanager
async def at_rest(app: ScreenApp, size: tuple[int, int]) -> AsyncIterator[Pilot[None]]:
    """Run the app until its screen is open and up to date."""
    async with app.run_test(size=size) as pilot:
        await until_at_rest(app, pilot)
        yield pilot


async def until_at_rest(app: ScreenApp, pilot: Pilot[None]) -> None:
    """Wait until the screen of an app is open and up to date."""
    await eventually(pilot, lambda: app.screen is app.opened, "the screen")
    while app.opened.sync():
        pass
    await pilot.pause()
