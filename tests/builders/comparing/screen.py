"""The comparison of two generated runs on the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agentwatch.output.compare.comparison import Comparison
from agentwatch.screen.screens.compare.calls_view import CallsView
from agentwatch.screen.screens.compare.screen import ComparisonApp
from agentwatch.screen.screens.compare.views import DifferencesView
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.screen.widgets.line_view import LineView
from tests.builders.comparing.runs import Run, compared
from tests.builders.home.home_app import screen_rows
from tests.builders.screen.app import eventually, lines_of


class ComparisonStage:
    """The app in a test terminal, and the pilot that drives it."""

    def __init__(self, app: ComparisonApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the app has handled them."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def resize(self, width: int, height: int) -> None:
        """Change the size of the terminal."""
        await self.pilot.resize_terminal(width, height)
        await self.until(lambda: len(self.rows) == height, "the new size")
        await self.pilot.pause()

    async def until(self, check: Callable[[], object], what: str) -> None:
        """Wait until `check` returns something true; fail after 20 s, naming `what`."""
        await eventually(self.pilot, check, what)

    async def shows(self, words: str) -> None:
        """Wait until the words are on the screen."""
        await self.until(lambda: words in self.text, words)

    @property
    def rows(self) -> list[str]:
        """The rows of the screen."""
        return screen_rows(self.app)

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(self.rows)

    @property
    def calls(self) -> CallsView:
        """The calls of both runs."""
        return self.app.screen_stack[0].query_one(CallsView)

    @property
    def shown(self) -> list[str]:
        """All lines of the calls, in view or not."""
        return lines_of(self.calls)

    @property
    def chosen(self) -> str:
        """The selected line of the view that is shown."""
        view = next(each for each in self.app.screen_stack[0].query(DifferencesView) if each.display)
        return lines_of(view)[view.cursor]

    @property
    def pair(self) -> list[str]:
        """The lines of the detail of a pair of calls."""
        return lines_of(self.app.screen.query_one("#pair", LineView))


@asynccontextmanager
async def opened(
    folder: Path, a: Run, b: Run, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[ComparisonStage]:
    """Record two runs in a folder, and open their comparison."""
    async with shown(compared(folder, a, b), folder, size) as stage:
        yield stage


@asynccontextmanager
async def shown(
    comparison: Comparison, folder: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[ComparisonStage]:
    """Open a comparison of the recordings `a.ndjson` and `b.ndjson` in a folder."""
    paths = (folder / "a.ndjson", folder / "b.ndjson")
    app = ComparisonApp(HeldSignals(), comparison, paths, (str(paths[0]), str(paths[1])))
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = ComparisonStage(app, pilot)
        await stage.shows(" Calls ")
        yield stage
