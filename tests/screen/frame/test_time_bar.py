"""The time bar shows the session in one row; the mouse seeks in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from agentwatch.analysis.verdict_history import CallVerdict
from agentwatch.analysis.verdicts import verdict
from agentwatch.events import Outcome
from agentwatch.resources import stylesheets
from agentwatch.safe_text import SafeText
from agentwatch.screen.frame.time_bar import TimeBar, playhead_words
from agentwatch.screen.lines.themes import ANSI_THEMES
from tests.analysis.time_bar.recorded import BEGAN_MS, Recorded
from tests.builders.screen.app import eventually

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
        """Yield the bar."""
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
        """The bar as text."""
        return self.bar.render_line(0).text


class CountedBar(TimeBar):
    """A bar that counts how often it asks to be drawn."""

    refreshes = 0

    def refresh(self, *args: Any, **kwargs: Any) -> CountedBar:
        """Count the request."""
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
    from agentwatch.screen.lines.format import time_of_day

    return time_of_day(BEGAN_MS + ms)


async def test_a_wide_row() -> None:
    """From 60 columns on, the times of both ends stand beside the bar, and the speed at the right."""
    made = recorded()
    async with opened(80) as (app, _):
        app.bar.show(made.session, made, 1100, PLAYING)
        assert app.row.startswith(f" {time_of(0)[:5]} ▏")
        assert app.row.endswith(f"▕ {time_of(100_000)[:5]}    ×4 ▶ ")
        bar = app.row[app.row.index("▏") + 1 : app.row.index("▕")]
        assert (bar.count("│"), bar.count("✗"), bar.count("●")) == (8, 1, 1)
        assert "╌" in bar[bar.index("●") :]
        assert "╌" not in bar[: bar.index("●")]


@pytest.mark.parametrize("width", [40, 59])
async def test_a_narrow_row(width: int) -> None:
    """A narrow row has the share of the session in place of the times."""
    made = recorded()
    async with opened(width) as (app, _):
        app.bar.show(made.session, made, 1300, playhead_words(8, is_reversed=True, is_paused=False))
        assert app.row.startswith(" ▏")
        assert app.row.endswith("▕    ◀ ×8  60 % ")
        assert "●" in app.row


@pytest.mark.parametrize("width", [5, 12, 20, 40, 59, 60, 80, 99, 100, 160, 300])
async def test_the_row_fits(width: int) -> None:
    """At any width the row is exactly as wide as the terminal, and shows the moment from 20 columns on."""
    made = recorded()
    async with opened(width) as (app, pilot):
        for moment in (0, 1100, made.size):
            for verdicts in ([], runs(made, 12, 9, 1, 0)):
                app.bar.show(made.session, made, moment, PLAYING, [(500, "before")], verdicts)
                await pilot.pause()
                assert app.bar.render_line(0).cell_length == width
                assert width < 20 or app.row.count("●") + app.row.count("⊗") == 1


async def test_a_live_session() -> None:
    """While the session runs, its end is `live`, and the handle follows the newest line."""
    made = recorded(is_closed=False)
    async with opened(80) as (app, _):
        app.bar.show(made.session, made, made.size, SafeText(""))
        assert "▕ live " in app.row
        before = app.row.index("●")
        assert app.row[before + 1 : app.row.index("▕")].strip() == ""
        made.call(1, 10_000)
        app.bar.show(made.session, made, made.size, SafeText(""))
        assert app.row.index("●") > before


async def test_without_times() -> None:
    """Without times the bar is one of bytes, and the mouse shows a share instead of a time."""
    made = recorded(has_times=False)
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, 1100, SafeText(""))
        assert ":" not in app.row
        assert app.row.count("✗") == 1
        await pilot.hover(app.bar, offset=(40, 0))
        assert app.row.rstrip().endswith(" %")


async def test_a_click_seeks() -> None:
    """A click posts the moment of its column; before the bar it is the beginning, after it the end."""
    made = recorded()
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, made.size, SafeText(""))
        failure = app.row.index("✗")
        for x in (failure, 0, 79):
            await pilot.click(app.bar, offset=(x, 0))
        assert app.sought == [900, 0, made.size]


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


async def test_the_bar_is_drawn_only_if_it_changed() -> None:
    """A frame that shows the same is not drawn, nor is a new moment in the same column."""
    made = recorded()
    async with opened(40) as (app, _):
        app.bar.show(made.session, made, 1100, PLAYING)
        before = app.bar.refreshes
        app.bar.show(made.session, made, 1100, PLAYING)
        app.bar.show(made.session, made, 1100, PLAYING, (), [])
        assert app.bar.refreshes == before
        app.bar.show(made.session, made, 1300, PLAYING)
        assert app.bar.refreshes == before + 1


async def test_many_calls_are_read_between_frames() -> None:
    """The calls of a large session appear after a while; another session is shown from its beginning."""
    made = Recorded()
    for number in range(20_000):
        made.call(10, 10, Outcome.FAILED if number == 19_990 else Outcome.SUCCEEDED)
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, 100, SafeText(""))
        assert "✗" not in app.row
        await eventually(pilot, lambda: "✗" in app.row, "the failure")
        other = recorded()
        app.bar.show(other.session, other, 100, SafeText(""))
        await eventually(pilot, lambda: app.row.count("│") == 9, "the other session")


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
async def test_what_is_shown_differs_without_colours(theme: str) -> None:
    """Without colours, test runs differ from failures by their weight, and all else by its sign."""
    made = recorded()
    verdicts = runs(made, 12)
    async with opened(160) as (app, pilot):
        app.theme = theme
        await pilot.pause()
        app.bar.show(made.session, made, made.size, SafeText(""), [(700, "here")], verdicts)
        styles = {
            name: str(app.bar.line_style(name).without_color) for name in ("failure", "red", "green", "call")
        }
        assert styles["failure"] != styles["red"]
        assert styles["call"] != styles["green"]
        assert {"●", "✗", "◈", "│"} <= set(app.row)


def test_the_words_of_a_playhead() -> None:
    """The speed stands before the sign of the direction; a pause has a sign of its own."""
    assert playhead_words(4, is_reversed=False, is_paused=False) == "×4 ▶"
    assert playhead_words(0.25, is_reversed=True, is_paused=False) == "◀ ×0.25"
    assert playhead_words(4, is_reversed=True, is_paused=True) == "‖"
