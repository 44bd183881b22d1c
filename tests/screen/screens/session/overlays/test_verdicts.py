"""The screen of the test runs lists their verdicts, and the files that changed before each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agentwatch.analysis.verdict_history import VerdictHistory
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session import box, box_files
from agentwatch.screen.screens.session.box import BoxList, BoxState, Opened, SessionBox
from agentwatch.screen.screens.session.box_files import ChangedFiles, VerdictList
from tests.analysis.verdict_history.sessions import STORY, edit, run_of_tests
from tests.builders.lines import feed_of
from tests.builders.screen.app import eventually, lines_of
from tests.builders.screen.box_alone import ScreenApp, at_rest, box_of
from tests.builders.screen.lines import append, init
from tests.conftest import Saver, case
from tests.harness.processes import until

pytestmark = pytest.mark.slow


def screen_of(feed: Feed, moment: int | None = None) -> SessionBox:
    """Return a box with the test runs at a moment, or at the end."""
    return box_of(VerdictList(feed.session, VerdictHistory(feed), BoxState(), moment))


@asynccontextmanager
async def shown(
    path: Path, size: tuple[int, int] = (100, 30), moment: int | None = None
) -> AsyncIterator[tuple[ScreenApp, Pilot[None]]]:
    """Open the screen on a recording, at a moment or at its end, until all is read."""
    feed = feed_of(path, follow=True)
    app = ScreenApp(feed, screen_of(feed, moment))
    async with at_rest(app, size) as pilot:
        yield app, pilot


def view(app: ScreenApp, name: str) -> BoxList[Any]:
    return app.opened.query_one(f"#{name}", BoxList)


def rows(app: ScreenApp, name: str) -> list[str]:
    """Return the rows of one of the two lists, with single blanks."""
    return [" ".join(line.split()) for line in lines_of(view(app, name))]


def numbers(given: list[Opened | None]) -> list[int | None]:
    """Return the numbers of the calls with which the box was dismissed."""
    return [None if each is None else each.call.number for each in given]


async def show(app: ScreenApp, pilot: Pilot[None], path: Path) -> None:
    """Open the screen on another recording."""
    app.feed = feed_of(path, follow=True)
    await app.again(pilot, screen_of(app.feed))


async def test_the_newest_test_run_is_the_first(recording: Saver) -> None:
    """Each test run is a row; below are the files that changed before it; enter goes to a call."""
    async with shown(recording(STORY), (72, 30)) as (app, pilot):
        # Each row has the number of the call, its verdict and its command; the ribbon stands above them.
        verdicts = view(app, "verdicts")
        assert verdicts.title == "3 test runs · 2 red"
        assert rows(app, "verdicts") == [
            "#8 ✓ 20 passed pytest -q",
            "#7 ✗ 1 failed, 19 passed pytest -q",
            "#2 ✗ 12 failed, 8 passed pytest -q",
        ]
        assert isinstance(verdicts, VerdictList)
        assert "".join(text for text, _ in verdicts.heading(60)) == "✗12 ✗1 ✓ "
        await pilot.press("down")
        assert [text for text, name in verdicts.heading(60) if name == "chosen"] == ["✗1"]
        # With room for it, a verdict has its source.
        await pilot.resize_terminal(120, 30)
        assert [row.split(" pytest")[0] for row in rows(app, "verdicts")] == [
            *("#8 ✓ 20 passed (pattern)", "#7 ✗ 1 failed, 19 passed (pattern)"),
            "#2 ✗ 12 failed, 8 passed (pattern)",
        ]
        # Below are the files that changed since the test run before, the first ones since the beginning.
        await pilot.resize_terminal(100, 30)
        await app.again(pilot, screen_of(app.feed))
        files = view(app, "changed-files")
        assert files.title == "0 files changed since #7"
        assert rows(app, "changed-files") == []
        await pilot.press("down")
        await pilot.pause()
        assert files.title == "2 files changed since #2"
        assert rows(app, "changed-files") == ["src/mill.py edited ×2 +8 −4", "src/wheel.py edited +4 −2"]
        await pilot.press("down")
        await pilot.pause()
        assert files.title == "1 file changed before"
        # Enter closes the screen with the call of the selected test run, escape without a call.
        await app.again(pilot, screen_of(app.feed))
        await pilot.press("down", "enter")
        assert numbers(app.given) == [7]
        await app.again(pilot, screen_of(app.feed))
        await pilot.press("escape")
        assert app.given == [None]
        # Tab goes to the files, enter there to the last change of one; escape goes back to the test runs.
        await app.again(pilot, screen_of(app.feed))
        await pilot.press("tab", "enter")
        assert app.given == []
        await pilot.press("escape", "down", "tab", "enter")
        assert numbers(app.given) == [5]


@pytest.mark.system
async def test_the_test_run_of_the_moment_is_selected(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screen opens on the last test run that had ended at the moment, or on the first of all.

    This does not depend on how much is read before it opens. What the user selects meanwhile stays selected.
    """
    path = recording(STORY)
    feed = feed_of(path)
    history = VerdictHistory(feed)
    history.update(1)
    moments = [each.moment for each in history.verdicts]
    async with shown(path) as (app, pilot):
        for calls_a_slice in ("all", "one"):
            if calls_a_slice == "one":
                for each in (box, box_files):
                    monkeypatch.setattr(each, "_SLICE_SECONDS", 1e-9)
            for moment, row in ((moments[1], 1), (moments[1] - 1, 2), (0, 2), (moments[2], 0)):
                with case((calls_a_slice, moment, row)):
                    await app.again(pilot, screen_of(app.feed, moment))
                    chosen = view(app, "verdicts")
                    assert isinstance(chosen, VerdictList)
                    assert chosen.cursor == row
    monkeypatch.setattr(SessionBox, "_keep_updated", SessionBox.sync)
    screen = screen_of(feed, 0)
    app = ScreenApp(feed, screen)
    async with app.run_test() as pilot:
        await eventually(pilot, lambda: app.screen is screen, "the screen")
        chosen = screen.query_one(VerdictList)
        until(lambda: screen.sync() and chosen.cursor)
        await pilot.press("g")
        until(lambda: not screen.sync())
        assert (chosen.cursor, chosen.line_count()) == (0, 3)


async def test_new_test_runs_appear(recording: Saver) -> None:
    """A new test run appears at the top, a run before an edit is marked; without any, the lists are empty."""
    path = recording(STORY)
    async with shown(path) as (app, pilot):
        # A new test run appears at the top; the selected one stays selected unless it was the newest.
        await pilot.press("down")
        append(path, edit(9, "src/mill.py") + run_of_tests(10, 2))
        app.feed.advance()
        while app.opened.sync():
            pass
        verdicts = view(app, "verdicts")
        assert isinstance(verdicts, VerdictList)
        assert verdicts.cursor == 2
        assert verdicts.chosen is not None
        assert verdicts.chosen.number == 7
        await pilot.press("g")
        append(path, run_of_tests(11, 0))
        app.feed.advance()
        while app.opened.sync():
            pass
        assert verdicts.cursor == 0
        assert verdicts.chosen.number == 11
        # If a file changed after the newest green run, its row and the ribbon show it.
        await pilot.resize_terminal(72, 30)
        await show(app, pilot, recording(STORY + edit(9, "src/mill.py")))
        assert rows(app, "verdicts")[0] == "#8 ✓ 20 passed, changed since pytest -q"
        verdicts = view(app, "verdicts")
        assert isinstance(verdicts, VerdictList)
        assert "".join(text for text, _ in verdicts.heading(60)) == "✗12 ✗1 ✓? "
        # Without a test run both lists say that they are empty, and enter does nothing.
        await show(app, pilot, recording(init() + edit(1, "src/mill.py")))
        text = "\n".join(view(app, name).render_line(0).text for name in ("verdicts", "changed-files"))
        assert "no test run" in text
        await pilot.press("enter", "tab", "enter")
        assert app.given == []


@pytest.mark.system
async def test_both_lists_fit(recording: Saver) -> None:
    """At every size each row fits its list, and the list that has the focus is visible."""
    path = recording(STORY + edit(9, "src/" + "deep/" * 30 + "x.py") + run_of_tests(10, 3))
    async with shown(path) as (app, pilot):
        for size in ((40, 12), (50, 20), (80, 24), (120, 40)):
            with case(size):
                await pilot.resize_terminal(*size)
                for name, key in (("verdicts", "tab"), ("changed-files", "tab")):
                    one = view(app, name)
                    assert app.focused is one
                    await eventually(pilot, partial(getattr, one, "size"), "the list in view")
                    width = one.scrollable_content_region.width
                    assert isinstance(one, VerdictList | ChangedFiles)
                    assert all(
                        one.draw_row(y, width - 1).cell_length <= width - 1 for y in range(one.line_count())
                    )
                    await pilot.press(key)
