"""What the screen's tests open: one pane alone, or the whole app with a pilot."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory
from typing import Any

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.moments import Asked
from agentwatch.base.config import Config
from agentwatch.base.files import stylesheets
from agentwatch.feed.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.screen.widgets.line_view import CursorView, LineView
from tests.builders.screen.lines import append
from tests.conftest import RECORDINGS

BOUND_SECONDS = 20.0
PANES = ("transcript", "calls", "detail")


async def eventually(pilot: Pilot[Any], check: Callable[[], object], what: str) -> None:
    """Wait until `check` returns something true; fail after 20 s, naming `what`."""
    bound = time.monotonic() + BOUND_SECONDS
    await pilot.pause()
    while not check():
        assert time.monotonic() < bound, f"never came: {what}"
        await asyncio.sleep(0.02)
        await pilot.pause()


class PaneApp(App[None]):
    """An app that shows the given panes with the real style sheet."""

    CSS_PATH = stylesheets()

    def __init__(self, *panes: LineView) -> None:
        super().__init__()
        self._panes = panes

    def compose(self) -> ComposeResult:
        yield from self._panes


def measure_all(transcript: Transcript) -> None:
    """Cut all of a transcript into blocks, and measure each as if it had come into view."""
    viewport = transcript.viewport
    while viewport.is_unsettled:
        viewport.settle_some()
    place = viewport._place()
    for index in range(len(viewport.blocks.all) if viewport.layout.width else 0):
        if not viewport.layout.is_measured(index):
            viewport.measure(index)
    viewport._stay_at(place)
    viewport.measure_view()
    transcript.show_lines()


def lines_of(pane: LineView) -> list[str]:
    """Return every line of a pane as text, visible or not, without marks and trailing blanks."""
    if isinstance(pane, Transcript):
        measure_all(pane)
    width = pane.scrollable_content_region.width
    if isinstance(pane, CursorView):
        return [pane.draw_row(y, width - 1).text.rstrip() for y in range(pane.line_count())]
    return [pane.draw(y, width).text.rstrip() for y in range(pane.line_count())]


def viewport(pane: LineView) -> list[str]:
    """Return the visible lines of a pane as text, without marks and trailing blanks."""
    height, first = pane.scrollable_content_region.height, int(isinstance(pane, CursorView))
    return [pane.render_line(y).text[first:].rstrip() for y in range(height)]


class CountedFeed(Feed):
    """A feed that counts the ticks of the screen: each tick calls `advance` once."""

    ticks = 0

    def advance(self, seconds: float | None = None) -> int:
        """Count the tick, then advance."""
        self.ticks += 1
        return super().advance(seconds)


class Stage:
    """The whole app over a recording, and the pilot that drives it."""

    def __init__(self, app: AgentwatchApp, feed: CountedFeed, path: Path, pilot: Pilot[Any]) -> None:
        self.app = app
        self.feed = feed
        self.path = path
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the app has handled them."""
        await self.pilot.press(*keys)

    async def append(self, data: bytes) -> None:
        """Append lines to the recording, and wait until the screen shows them."""
        append(self.path, data)
        await self.pilot.pause()
        await self.until(lambda: not self.feed.backlog(), "the end of the recording")
        await self.settled()

    async def settled(self) -> None:
        """Wait until two more ticks have passed, or no tick is due."""
        before, screen = self.feed.ticks, self.app.screen_stack[0]
        assert isinstance(screen, WatchScreen)
        await self.until(
            lambda: self.feed.ticks > before + 1 or screen.frame_scheduler.is_resting, "two ticks"
        )

    async def until(self, check: Callable[[], object], what: str) -> None:
        """Wait until `check` returns something true; fail after 20 s, naming `what`."""
        await eventually(self.pilot, check, what)

    async def shows(self, words: str, pane: str | None = None) -> None:
        """Wait until the words are on the screen, or in any line of the given pane, visible or not."""
        if pane is None:
            await self.until(lambda: words in self.text(blanks=True), words)
        else:
            await self.until(lambda: words in "\n".join(lines_of(self.pane(pane))), words)

    def pane(self, name: str) -> LineView:
        return self.app.screen_stack[0].query_one(f"#{name}", LineView)

    @property
    def calls(self) -> CallTable:
        table = self.pane("calls")
        assert isinstance(table, CallTable)
        return table

    @property
    def chosen(self) -> str | None:
        """The target of the selected call; None without a call or a target."""
        return self.calls.chosen.target if self.calls.chosen else None

    @property
    def focus(self) -> str | None:
        """The name of the focused pane."""
        return self.app.focused.id if self.app.focused else None

    def segments(self) -> list[Segment]:
        return [segment for strip in self.app.screen._compositor.render_strips() for segment in strip]

    def rows(self) -> list[str]:
        """Return the rows of the screen as text, without trailing blanks."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    def text(self, *, blanks: bool = False) -> str:
        """Return the screen as text; `blanks` keeps the trailing blanks of its rows."""
        if blanks:
            return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())
        return "\n".join(self.rows())

    @property
    def header(self) -> str:
        """The text of the header line, the first row; empty while a new screen is not drawn yet."""
        return "".join(self.rows()[:1])

    @property
    def status(self) -> str:
        """The text of the status line, the second row."""
        return "".join(self.rows()[1:2])


OWN_KEYS = Config(
    keys={
        "moment-at-call": "M",
        "seconds-back": "left",
        "seconds-forward": "right",
        "minute-back": "shift+left",
        "minute-forward": "shift+right",
        "reverse": "R",
        "time-bar": "B",
    }
)
"""The user's own keys for the commands that only the palette has."""


@asynccontextmanager
async def opened(
    path: Path,
    size: tuple[int, int] = (120, 40),
    *,
    follow: bool = False,
    replay: Replay | None = None,
    asked: Asked | None = None,
    config: Config | None = None,
) -> AsyncIterator[Stage]:
    """Open a recording in the app; everything that is due is read and shown when this yields. Of a recording
    that belongs to the project, a copy is opened, because some keys write beside it."""
    with TemporaryDirectory() as folder:
        if path.parent == RECORDINGS:
            for each in RECORDINGS.glob(f"{path.stem}.*"):
                copy2(each, folder)
            path = Path(folder) / path.name
        source = saved_source(path, follow)
        feed = CountedFeed(source.reader)
        app = AgentwatchApp(source, feed, PendingSignals(), config, replay, asked)
        async with app.run_test(size=size, notifications=True) as pilot:
            stage = Stage(app, feed, path, pilot)
            await stage.until(lambda: not feed.backlog(), "the end of the recording")
            await stage.settled()
            yield stage
        os.close(source.reader.fd)


def bundled(name: str) -> Path:
    """Return the path of a recording that belongs to the project."""
    return RECORDINGS / f"{name}.ndjson"
