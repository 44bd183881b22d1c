"""The time bar shows the session in one row, as much of it as fits; the mouse seeks in it."""

import pytest

from agentwatch.analysis.time_bar import Kind
from agentwatch.screen.panes.time_bar import TimeBar, playhead_words
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText
from tests.analysis.test_time_bar import Recorded
from tests.builders.lines import init
from tests.builders.moment.timed import timed_evenly
from tests.builders.screen.app import eventually
from tests.builders.screen.app import opened as opened_session
from tests.builders.screen.bar_app import PLAYING, opened, recorded, runs, time_of
from tests.builders.screen.lines import shell
from tests.conftest import RECORDINGS, Saver, case

pytestmark = pytest.mark.slow


async def test_the_bar_shows_the_session() -> None:
    """The bar shows the calls, the ends and the moment in one row, by times or by bytes, as they fit."""
    made = recorded()
    async with opened(80) as (app, pilot):
        # From 60 columns on, the times of both ends stand beside the bar, and the speed at the right.
        app.bar.show(made.session, made, 1100, PLAYING, failures=[900])
        assert app.row.startswith(f" {time_of(0)[:5]} ▏")
        assert app.row.endswith(f"▕ {time_of(100_000)[:5]}    ×4 ▶ ")
        bar = app.row[app.row.index("▏") + 1 : app.row.index("▕")]
        assert (bar.count("▂"), bar.count("✗"), bar.count("●")) == (8, 1, 1)
        assert "╌" in bar[bar.index("●") :]
        assert "╌" not in bar[: bar.index("●")]
        # Without times the bar is one of bytes, and the mouse shows a share instead of a time.
        made = recorded(has_times=False)
        app.bar.show(made.session, made, 1100, SafeText(""), failures=[900])
        assert ":" not in app.row
        assert app.row.count("✗") == 1
        await pilot.hover(app.bar, offset=(40, 0))
        assert app.row.rstrip().endswith(" %")
        await pilot.hover(offset=(0, 3))
        # While the session runs, its end is `live`, and the handle follows the newest line.
        made = recorded(is_closed=False)
        app.bar.show(made.session, made, made.size, SafeText(""))
        assert "▕ live " in app.row
        before = app.row.index("●")
        assert app.row[before + 1 : app.row.index("▕")].strip() == ""
        made.call(1, 10_000)
        app.bar.show(made.session, made, made.size, SafeText(""))
        assert app.row.index("●") > before
        # A frame that shows the same is not drawn, nor is a new moment in the same column.
        made = recorded()
        made = recorded()
        await pilot.resize_terminal(40, 4)
        app.bar.show(made.session, made, 1100, PLAYING)
        before = app.bar.refreshes
        app.bar.show(made.session, made, 1100, PLAYING)
        app.bar.show(made.session, made, 1100, PLAYING, (), [])
        assert app.bar.refreshes == before
        app.bar.show(made.session, made, 1300, PLAYING)
        assert app.bar.refreshes == before + 1
        # A narrow row has the share of the session in place of the times.
        made = recorded()
        await pilot.resize_terminal(59, 4)
        app.bar.show(made.session, made, 1300, playhead_words(8, is_reversed=True, is_paused=False))
        assert app.row.startswith(" ▏")
        assert app.row.endswith("▕    ◀ ×8  60 % ")
        assert "●" in app.row
        # At any width the row is exactly as wide as the terminal, and shows the moment from 20 columns on.
        made = recorded()
        for width in (5, 12, 20, 40, 59, 60, 80, 99, 100, 160, 300):
            await pilot.resize_terminal(width, 4)
            for moment in (0, 1100, made.size):
                for verdicts in ([], runs(made, 12, 9, 1, 0)):
                    app.bar.show(made.session, made, moment, PLAYING, [(500, "before")], verdicts)
                    await pilot.pause()
                    assert app.bar.render_line(0).cell_length == width
                    assert width < 20 or app.row.count("●") + app.row.count("⊗") == 1
        # Without colours, test runs differ from failures by their weight, and all else by its sign.
        made = recorded()
        verdicts = runs(made, 12)
        await pilot.resize_terminal(160, 4)
        for theme in ("textual-light", "ansi-dark", "ansi-light", "textual-dark"):
            with case(theme):
                app.theme = theme
                await pilot.pause()
                bookmarks = [(700, "here")]
                app.bar.show(made.session, made, made.size, SafeText(""), bookmarks, verdicts, failures=[900])
                styles = {
                    name: str(app.bar.line_style(name).without_color)
                    for name in ("failure", "red", "green", "call")
                }
                assert styles["failure"] != styles["red"]
                assert styles["call"] != styles["green"]
                assert {"●", "✗", "◈", "▂"} <= set(app.row)


@pytest.mark.system
async def test_many_calls_are_read_between_frames() -> None:
    """The calls of a large session appear after a while; another session is shown from its beginning."""
    made = Recorded()
    for number in range(20_000):
        made.call(10, 10, Outcome.REJECTED if number == 19_990 else Outcome.SUCCEEDED)
    async with opened(80) as (app, pilot):
        app.bar.show(made.session, made, 100, SafeText(""))
        assert "⊘" not in app.row
        await eventually(pilot, lambda: "⊘" in app.row, "the rejection")
        other = recorded()
        app.bar.show(other.session, other, 100, SafeText(""))
        await eventually(pilot, lambda: app.row.count("▂") == 10, "the other session")


def test_the_words_of_a_playhead() -> None:
    """The speed stands before the sign of the direction; a pause has a sign of its own."""
    assert playhead_words(4, is_reversed=False, is_paused=False) == "×4 ▶"
    assert playhead_words(0.25, is_reversed=True, is_paused=False) == "◀ ×0.25"
    assert playhead_words(4, is_reversed=True, is_paused=True) == "‖ ×4"
    assert playhead_words(1, is_reversed=False, is_paused=True) == "‖"


async def test_the_mouse_seeks_and_shows() -> None:
    """A click or a drag with the left button posts moments; the time or bookmark below the mouse is shown."""
    made = recorded()
    async with opened(80) as (app, pilot):
        # A click posts the moment of its column; before the bar it is the beginning, after it the end.
        app.bar.show(made.session, made, made.size, SafeText(""), failures=[900])
        failure = app.row.index("✗")
        for x in (failure, 0, 79):
            await pilot.click(app.bar, offset=(x, 0))
        assert app.sought == [900, 0, made.size]
        # Only the left button seeks.
        made = recorded()
        app.posted.clear()
        app.bar.show(made.session, made, made.size, SafeText(""))
        await pilot.click(app.bar, offset=(30, 0), button=3)
        assert app.sought == []
        await pilot.click(app.bar, offset=(30, 0))
        assert len(app.sought) == 1
        # While the button is pressed, the bar posts each new moment once, also outside its row.
        made = recorded()
        app.posted.clear()
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
        # The name of a bookmark below the mouse stands beside its time, made safe and cut to the room.
        made = recorded()
        app.bar.show(made.session, made, made.size, SafeText(""), [(500, "b\x1be the long rewrite")])
        await pilot.hover(app.bar, offset=(app.row.index("◈"), 0))
        assert " · b␛…" in app.row
        assert app.bar.render_line(0).cell_length == 80
        # The time below the mouse stands at the right while the mouse is over the bar; the bar does not move.
        made = recorded()
        for width in (160, 40, 80):
            await pilot.resize_terminal(width, 4)
            await pilot.hover(offset=(0, 3))
            app.bar.show(made.session, made, 1100, PLAYING, failures=[900])
            before = app.row
            handle = app.row.index("✗")
            await pilot.hover(app.bar, offset=(handle, 0))
            shown = app.row
            end = before.index("▕") + 1
            assert shown[:end] == before[:end]
            [time] = shown[end:].split()
            assert time_of(40_000) <= time <= time_of(40_000 + 100_000 // (width // 2))
            await pilot.hover(offset=(0, 3))
            await eventually(pilot, lambda before=before: app.row == before, "the row as it was")  # type: ignore[misc]
        # From 100 columns on, the test runs stand beside the bar; a click goes to the call of one.
        made = recorded()
        verdicts = runs(made, 12, 9, 1, 0)
        app.posted.clear()
        await pilot.resize_terminal(120, 4)
        app.bar.show(made.session, made, made.size, SafeText(""), (), verdicts)
        assert " ✗12 ✗9 ✗1 ✓ " in app.row
        await pilot.click(app.bar, offset=(app.row.index("✗9") + 1, 0))
        [chosen] = app.posted
        assert isinstance(chosen, TimeBar.VerdictChosen)
        assert chosen.number == 2
        await pilot.resize_terminal(90, 4)
        await eventually(pilot, lambda: "✗12" not in app.row, "a narrower row")


async def test_only_open_failures_have_a_failures_sign(recording: Saver) -> None:
    """A failure that was tried again is a part of its column; tests that passed later have no colour of a
    failure, and those that passed with another tool do not count."""
    again = [shell(number).replace(b"call-", b"again-") for number in range(9)]
    calls = [shell(number, 1) + again[number] for number in range(9)]
    data = b"".join([init(), *calls, shell(9, 1), shell(10)]).replace(b"echo", b"make")
    path = timed_evenly(recording(data))
    async with opened_session(path) as stage:
        await stage.press("colon", *"#2", "enter")
        await stage.until(lambda: bool(stage.app.screen.query(TimeBar)), "the bar")
        bar = stage.app.screen.query_one(TimeBar)
        await stage.until(lambda: bar.display and "✗" in bar.render_line(0).text, "the open failure")
        await stage.until(lambda: bar.render_line(0).text.count("✗") == 1, "it alone")
        await stage.press("colon", *"#19", "enter")
        await stage.until(lambda: "⊗" in bar.render_line(0).text, "the failure at the moment")
    made = recorded()
    verdicts = runs(made, 3, 2, 0)
    async with opened(80) as (app, _):
        app.bar.show(made.session, made, made.size, SafeText(""), (), verdicts)
        kinds = [cell.kind for cell in app.bar._cells if cell.sign in "✗✓"]
        assert kinds == [Kind.MENDED, Kind.MENDED, Kind.GREEN]
        other = verdicts[2]._replace(verdict=verdicts[2].verdict._replace(tool="jest"))
        app.bar.show(made.session, made, made.size, SafeText(""), (), [*verdicts[:2], other])
        kinds = [cell.kind for cell in app.bar._cells if cell.sign in "✗✓"]
        assert kinds == [Kind.RED, Kind.RED, Kind.GREEN]


@pytest.mark.system
async def test_a_click_on_the_end_returns_to_live() -> None:
    """A click at the right of the bar shows the live moment; the bar is hidden, and the keys still work."""
    async with opened_session(RECORDINGS / "demo.ndjson") as stage:
        assert not stage.app.screen.query(TimeBar)
        await stage.press("comma")
        await stage.until(lambda: bool(stage.app.screen.query(TimeBar)), "the bar")
        bar = stage.app.screen.query_one(TimeBar)
        await stage.until(lambda: bar.size.width > 0, "its place")
        await stage.pilot.click(bar, offset=(bar.size.width - 1, 0))
        await stage.until(lambda: not bar.display, "the live moment")
        assert stage.app.mouse_captured is None
        assert stage.focus == "transcript"
        await stage.press("comma")
        await stage.until(lambda: bar.display, "the bar again")
