"""The time bar shows the session in one row, as much of it as fits."""

from __future__ import annotations

import pytest

from agentwatch.screen.panes.time_bar import playhead_words
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText
from tests.analysis.test_time_bar import Recorded
from tests.builders.screen.app import eventually
from tests.builders.screen.bar_app import PLAYING, opened, recorded, runs, time_of
from tests.conftest import case

pytestmark = pytest.mark.slow


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


@pytest.mark.system
async def test_the_row_fits() -> None:
    """At any width the row is exactly as wide as the terminal, and shows the moment from 20 columns on."""
    for width in (5, 12, 20, 40, 59, 60, 80, 99, 100, 160, 300):
        with case(width):
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


@pytest.mark.system
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


async def test_what_is_shown_differs_without_colours() -> None:
    """Without colours, test runs differ from failures by their weight, and all else by its sign."""
    for theme in ("textual-dark", "textual-light", "ansi-dark", "ansi-light"):
        with case(theme):
            made = recorded()
            verdicts = runs(made, 12)
            async with opened(160) as (app, pilot):
                app.theme = theme
                await pilot.pause()
                app.bar.show(made.session, made, made.size, SafeText(""), [(700, "here")], verdicts)
                styles = {
                    name: str(app.bar.line_style(name).without_color)
                    for name in ("failure", "red", "green", "call")
                }
                assert styles["failure"] != styles["red"]
                assert styles["call"] != styles["green"]
                assert {"●", "✗", "◈", "│"} <= set(app.row)


def test_the_words_of_a_playhead() -> None:
    """The speed stands before the sign of the direction; a pause has a sign of its own."""
    assert playhead_words(4, is_reversed=False, is_paused=False) == "×4 ▶"
    assert playhead_words(0.25, is_reversed=True, is_paused=False) == "◀ ×0.25"
    assert playhead_words(4, is_reversed=True, is_paused=True) == "‖ ×4"
    assert playhead_words(1, is_reversed=False, is_paused=True) == "‖"
