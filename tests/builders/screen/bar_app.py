"""The time bar alone, and a session to show in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from agentwatch.analysis.verdict_history import CallVerdict
from agentwatch.analysis.verdicts import verdict
from agentwatch.base.files import stylesheets
from agentwatch.screen.panes.time_bar import TimeBar
from agentwatch.screen.terminal.themes import ANSI_THEMES
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText
from agentwatch.text.times import time_of_day
from tests.analysis.test_time_bar import BEGAN_MS, Recorded

PLAYING = SafeText("×4 ▶")


class BarApp(App[None]):
    """An app with the time bar only, which notes what the bar posts and how often it is drawn."""

    CSS_PATH = stylesheets()

    def __init__(self) -> None:
        super().__init__()
        self.bar = CountedBar()
        self.posted: list[Message] = []
        for theme in ANSI_THEMES:
            self.register_theme(theme)

    def compose(self) -> ComposeResult:
        yield self.bar

    @on(TimeBar.Sought)
    @on(TimeBar.VerdictChosen)
    def _note(self, message: Message) -> None:
        self.posted.append(message)

    @property
    def sought(self) -> list[int]:
        """The moments that the bar has posted."""
        return [each.offset for each in self.posted if isinstance(each, TimeBar.Sought)]

    @property
    def row(self) -> str:
        return self.bar.render_line(0).text


class CountedBar(TimeBar):
    """A bar that counts how often it asks to be drawn."""

    refreshes = 0

    def refresh(self, *args: Any, **kwargs: Any) -> CountedBar:
        self.refreshes += 1
        super().refresh(*args, **kwargs)
        return self


Opened = tuple[BarApp, Pilot[None]]


@asynccontextmanager
async def opened(width: int) -> AsyncIterator[Opened]:
    """Run the app in a terminal of `width` columns."""
    app = BarApp()
    async with app.run_test(size=(width, 4)) as pilot:
        yield app, pilot


def recorded(*, is_closed: bool = True, has_times: bool = True) -> Recorded:
    """Return a session of 100 s: a call every 10 s, of which the fourth failed, the last at its end."""
    made = Recorded(has_times=has_times)
    for number in range(10):
        made.call(9000, 1000, Outcome.FAILED if number == 3 else Outcome.SUCCEEDED)
    if is_closed:
        made.close()
    return made


def runs(made: Recorded, *failed: int) -> list[CallVerdict]:
    """Return verdicts on the first calls of a session with these numbers of failed tests."""
    found = []
    for number, count in enumerate(failed, 1):
        words = f"{count} failed, 3 passed in 1s" if count else "3 passed in 1s"
        read = verdict("pytest", words, 1 if count else 0)
        assert read is not None
        found.append(CallVerdict(100 + 200 * number, number, number - 1, read))
    assert made.size > found[-1].moment
    return found


def time_of(ms: int) -> str:
    """Return a time of the session as the bar writes it."""
    return time_of_day(BEGAN_MS + ms)
