"""A screen that opens over the panes, alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from textual.app import App
from textual.pilot import Pilot

from agentwatch.base.files import stylesheets
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.breakdown import TimeScreen
from agentwatch.screen.screens.session.digest import DigestScreen
from agentwatch.screen.screens.session.file_list import FilesScreen
from agentwatch.screen.screens.session.verdicts import VerdictsScreen
from tests.builders.screen.app import eventually

Opened = TypeVar("Opened", DigestScreen, FilesScreen, TimeScreen, VerdictsScreen)


class ScreenApp(App[None], Generic[Opened]):
    """An app that opens one screen on a feed."""

    CSS_PATH = stylesheets()

    def __init__(self, feed: Feed, opened: Opened) -> None:
        super().__init__()
        self.feed = feed
        self.opened: Opened = opened
        self.given: list[Any] = []
        """The results with which the screen was dismissed."""

    def on_mount(self) -> None:
        """Open the screen."""
        self.push_screen(self.opened, self.given.append)

    async def again(self, pilot: Pilot[None], opened: Opened) -> None:
        """Open a screen in the place of the one before, until it is up to date."""
        if self.screen is self.opened:
            await self.pop_screen()
        self.opened = opened
        self.given.clear()
        self.push_screen(opened, self.given.append)
        await until_at_rest(self, pilot)


@asynccontextmanager
async def at_rest(app: ScreenApp[Opened], size: tuple[int, int]) -> AsyncIterator[Pilot[None]]:
    """Run the app until its screen is open and up to date."""
    async with app.run_test(size=size) as pilot:
        await until_at_rest(app, pilot)
        yield pilot


async def until_at_rest(app: ScreenApp[Opened], pilot: Pilot[None]) -> None:
    """Wait until the screen of an app is open and up to date."""
    await eventually(pilot, lambda: app.screen is app.opened, "the screen")
    while app.opened.sync():
        pass
    await pilot.pause()
