"""The time screen shows where the time went, in bars that can be read without their colours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agentwatch.analysis.time import TimeBreakdown
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.saved import open_saved
from agentwatch.screen.screens.session.box import BoxState, Opened, SessionBox
from agentwatch.screen.screens.session.box_reports import ReportList, bar, time_report
from tests.analysis.episodes.calls import shell as shell_call
from tests.analysis.episodes.calls import written
from tests.builders.lines import feed_of
from tests.builders.screen.app import bundled, eventually, lines_of
from tests.builders.screen.box_alone import ScreenApp, at_rest, box_of
from tests.builders.screen.lines import ended, init, result, shell, started, thinking
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

BEGAN_MS = 1_793_610_000_000


def time_box(feed: Feed) -> SessionBox:
    return box_of(ReportList("box-time", BoxState(), time_report(feed, TimeBreakdown(feed.session))))


class TimeApp(ScreenApp):
    """An app that opens the time screen."""

    def rows(self) -> list[str]:
        """Return the lines of the screen, with runs of blanks collapsed."""
        view = self.opened.query_one(ReportList)
        return [" ".join(row.split()) for row in lines_of(view)]


@asynccontextmanager
async def opened(
    path: Path, size: tuple[int, int] = (90, 40), *, follow: bool = False
) -> AsyncIterator[tuple[TimeApp, Pilot[None]]]:
    feed = feed_of(path, follow=follow)
    app = TimeApp(feed, time_box(feed))
    async with at_rest(app, size) as pilot:
        yield app, pilot


async def show(app: TimeApp, pilot: Pilot[None], path: Path, *, follow: bool = False) -> None:
    """Open the time screen of another recording."""
    app.feed = Feed(open_saved(path, follow))
    app.feed.advance()
    await app.again(pilot, time_box(app.feed))


async def test_the_times_of_the_demo() -> None:
    """Each share has its time and bar; keys and clicks choose and open the slowest calls."""
    async with opened(bundled("demo")) as (app, pilot):
        # Each share shows its time, percentage and bar; the total names the clock it was measured by.
        rows = app.rows()
        assert rows[0] == "1:10 by the agent's clock"
        assert [row.rpartition(" ")[0] for row in rows[2:8]] == [
            "thinking 5.3 s 8 %",
            "writing 20.1 s 29 %",
            "tools 27.1 s 39 %",
            "waiting (notice) 1.3 s 2 %",
            "waiting for the model 14.1 s 20 %",
            "unattributed 2.1 s 3 %",
        ]
        assert rows[8:11] == ["", "Tools (overlapping calls counted separately)", rows[10]]
        assert rows[10].startswith("shell ×3 16.0 s ███")
        slowest = rows.index("Slowest calls")
        assert rows[slowest + 1 : slowest + 3] == [
            "✓ #11 task Check .seconds in chart.py 9.7 s",
            "✗ #6 shell pytest -q 8.6 s",
        ]
        # The cursor moves among the slowest calls only, and enter dismisses the screen with the selected one.
        view = app.opened.query_one(ReportList)
        slowest = app.rows().index("Slowest calls")
        seen = []
        for key in ("k", "j", "j", "G", "j", "g", "j"):
            await pilot.press(key)
            seen.append(view.cursor - slowest)
        assert seen == [1, 2, 3, 5, 5, 1, 2]
        await pilot.press("enter")
        await eventually(pilot, lambda: app.given, "the call")
        assert [each.call.target for each in app.given] == ["pytest -q"]
        # A click selects a call and a second one opens it; a click on another line does nothing.
        await app.again(pilot, time_box(app.feed))
        view = app.opened.query_one(ReportList)
        slowest = app.rows().index("Slowest calls")
        for row in (3, 0, -2):
            await pilot.click(view, offset=(9, slowest + row))
            assert view.cursor == slowest + 3
        await pilot.click(view, offset=(9, slowest + 3), times=2)
        await eventually(pilot, lambda: app.given, "the call")
        assert [each.call.tool for each in app.given] == ["shell"]
        # Esc, `q` and `T` close the screen.
        for key in ("escape", "q", "i"):
            await app.again(pilot, time_box(app.feed))
            await pilot.press(key)
            await eventually(pilot, lambda: app.given, "the end")
        # If the selected call is below the view, enter or `j` scrolls to it, and the next enter opens it.
        await pilot.resize_terminal(60, 14)
        for key in ("enter", "j"):
            await app.again(pilot, time_box(app.feed))
            view = app.opened.query_one(ReportList)
            assert view.cursor >= view.scrollable_content_region.height
            chosen = view.chosen
            await pilot.press(key)
            assert not app.given
            assert view.chosen == chosen
            assert view.scroll_offset.y > 0
            await pilot.press("enter")
            await eventually(pilot, lambda: app.given, "the call")
            assert chosen is not None
            assert app.given == [Opened(chosen.call, at_end=False)]
        # In a short terminal the lines before and after the calls are reached by the same keys.
        await pilot.resize_terminal(60, 12)
        await app.again(pilot, time_box(app.feed))
        view = app.opened.query_one(ReportList)
        await pilot.press(*"j" * 30)
        assert view.scroll_offset.y == view.max_scroll_y > 0
        await pilot.press(*"k" * 40)
        assert view.scroll_offset.y == 0
        # At every size names and numbers are shown; the bars are shortened first.
        view = app.opened.query_one(ReportList)
        for size in ((100, 30), (60, 20), (38, 10), (12, 5)):
            with case(size):
                await pilot.resize_terminal(*size)
                width = view.scrollable_content_region.width
                assert all(len(row) <= max(width, 20) for row in lines_of(view))
                assert any("5.3 s" in row for row in app.rows()[2:6])


@pytest.mark.system
async def test_tokens_runs_clocks_and_tools(recording: Saver) -> None:
    """Tokens have the agent's own names, each run its times and clock; many tools share a line."""
    usage = {"inputTokens": 1_234_567, "odd[b]": "\x1b[31m", "cost": None}
    async with opened(recording(init() + shell(1) + result(usage=usage))) as (app, pilot):
        # Token counts are shown under the agent's own names; without them there is no section for tokens.
        rows = app.rows()
        assert rows[-4:] == [
            "Tokens (as reported by the agent)",
            "1,234,567 inputTokens",
            "␛[31m odd[b]",
            "None cost",
        ]
        await show(app, pilot, recording(init() + shell(1) + result()))
        assert not any("Tokens" in row for row in app.rows())
        # With several runs, each shows its own tokens, and the time between runs is listed separately.
        await show(app, pilot, bundled("two-runs"))
        rows = app.rows()
        assert "not counted: 1:12 between runs" in rows
        assert rows.index("run 1") < rows.index("run 2")
        # Without times from the agent, the arrival times are used and named; without either, no time is
        # shown.
        data = shell(1).replace(b', "timestamp_ms": 1793610000000', b"")
        begun, whole = data.replace(b', "timestamp_ms": 1793610001500', b"").splitlines(keepends=True)
        path = recording(init() + begun + whole)
        await show(app, pilot, path)
        assert app.rows() == ["no times known: neither the stream nor the recording has timestamps", ""]
        times = f"0 1000\n{len(init())} 2000\n{len(init() + begun)} 5000\n"
        path.with_suffix(".times").write_text(times)
        await show(app, pilot, path)
        rows = app.rows()
        assert rows[0] == "4.0 s by arrival times: the stream has no timestamps"
        assert rows[2].startswith("tools 3.0 s 75 % ██")
        assert rows[3].startswith("unattributed 1.0 s 25 % ██")
        # The twelve tools with the longest time have a line each; the others share one.
        calls = b"".join(
            started(f"c-{number}", f"tool{number}", {}, BEGAN_MS)
            + ended(f"c-{number}", f"tool{number}", {}, {"success": {}}, BEGAN_MS + 1000 * (20 - number))
            for number in range(15)
        )
        await show(app, pilot, recording(init() + calls))
        rows = app.rows()
        assert sum(row.startswith("tool") for row in rows) == 12 + 1
        assert "3 more, 21.0 s in total" in rows
        # The screen updates while it is open; a running call is listed as not counted yet.
        path = recording(init() + thinking("Hm."))
        await show(app, pilot, path, follow=True)
        assert app.rows()[0] == "2.5 s by the agent's clock"
        args: dict[str, object] = {"command": "make"}
        with path.open("ab") as file:
            file.write(started("c-1", "shell", args, BEGAN_MS + 3000))
        app.feed.advance()
        await eventually(pilot, lambda: app.rows()[0].startswith("3.0 s"), "the call")
        assert "1 running: not included in the tools until completed" in app.rows()
        with path.open("ab") as file:
            file.write(ended("c-1", "shell", args, {"success": {}}, BEGAN_MS + 8000))
        app.feed.advance()
        await eventually(pilot, lambda: app.rows()[0].startswith("8.0 s"), "its end")
        assert not any("running" in row for row in app.rows())
        # In a session without calls the keys scroll, and enter keeps the screen open.
        await pilot.resize_terminal(40, 5)
        await show(app, pilot, recording(init() + thinking("Hm.")))
        await pilot.press("enter", "j", "k", "G", "g")
        assert not app.given
        assert app.opened.query_one(ReportList).chosen is None


TROUBLE = (*[shell_call("make", 2)] * 3, shell_call("make"), *[shell_call("npm test", 1)] * 3)


async def test_trouble_comes_before_the_tools(recording: Saver) -> None:
    """Each episode of the moment is a line with its calls; enter goes to the last; old ones are counted."""
    # Each episode is a line with its calls; enter goes to the last of them, and old ones are counted.
    async with opened(recording(written(*TROUBLE)), follow=True) as (app, pilot):
        # Each episode is a line with its calls; enter goes to the last of them, what is not fixed first.
        for moves, number in ((0, 7), (1, 4)):
            await app.again(pilot, time_box(app.feed))
            rows = app.rows()
            at = rows.index("Trouble")
            assert rows[at + 1 : at + 5] == [
                "✗ not fixed yet, 3 tries, 21.0 s: npm test #5–#7",
                "✓ fixed on try 4, 31.0 s: make #1–#4",
                "",
                "Tools (overlapping calls counted separately)",
            ]
            await pilot.press(*"j" * moves, "enter")
            await eventually(pilot, lambda: app.given, "the call")
            assert [each.call.number for each in app.given] == [number]
        # Twelve episodes are listed; the line after them counts the others.
        calls = [shell_call(f"make {number}", 2) for number in range(14) for _ in range(3)]
        await show(app, pilot, recording(written(*calls)), follow=True)
        rows = app.rows()
        assert sum("not fixed yet" in row for row in rows) == 12
        assert "and 2 more" in rows
    # A failure that is fixed later is not fixed yet; before any trouble, the heading is missing.
    reader = open_saved(recording(written(*TROUBLE)), follow=True)
    feed = Feed(reader)
    history = History(feed, reader)
    feed.advance()
    for count, words in ((2, []), (3, ["✗ not fixed yet, 3 tries, 21.0 s: make #1–#3"])):
        shown = history.at(len(written(*TROUBLE[:count])))
        app = TimeApp(shown, time_box(shown))
        async with at_rest(app, (90, 40)):
            rows = app.rows()
            assert [row for row in rows if "tries" in row] == words
            assert ("Trouble" in rows) == bool(words)


def test_a_bar_is_drawn_in_eighths() -> None:
    """A bar shows its share in eighths of a column: at least one eighth, and none for an empty share."""
    assert bar(50, 100, 8) == "████"
    assert bar(100, 100, 8) == "████████"
    assert bar(7, 16, 1) == "▍"
    assert bar(1, 10_000, 8) == "▏"
    assert bar(0, 100, 8) == bar(0, 0, 8) == ""
