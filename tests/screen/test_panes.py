"""Each pane has a key; the panes are shown side by side where they fit, else one at a time."""

import re
from functools import partial
from time import monotonic

import pytest

from agentwatch.screen.panes.detail.pane import DetailView
from agentwatch.screen.screens.session.panes import NAMES, PaneTabs
from agentwatch.screen.widgets.line_view import CursorView
from tests.builders.lines import init, started
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import Stage, bundled, lines_of, opened
from tests.builders.screen.lines import append, result, session
from tests.conftest import Saver, case


def shown(stage: Stage) -> list[str]:
    """Return the names of the visible panes."""
    return [name for name in NAMES if stage.pane(name).region.area and stage.pane(name).is_on_screen]


async def sees(stage: Stage, *names: str) -> None:
    """Wait until exactly these panes are visible."""
    await stage.until(lambda: shown(stage) == [*names], f"{names} alone")


@pytest.mark.system
async def test_keys_choose_and_maximise_panes() -> None:
    """Numbers and tab focus a pane, `z` maximizes it; a resize shows the panes that fit, at least one."""
    async with opened(bundled("demo"), (120, 50)) as stage:
        todo = stage.app.screen.query_one("#todo").region.height
        assert todo == 1
        assert stage.focus == "transcript"
        watch_screen(stage).workspace.add_stderr(["a warning"])
        # Tab focuses the next pane and shift+tab the previous one, wrapping around.
        found = []
        for key in ("tab", "tab", "tab", "tab", "shift+tab", "shift+tab"):
            await stage.press(key)
            found.append(stage.focus)
        assert found == ["calls", "detail", "stderr", "transcript", "stderr", "detail"]
        # 1, 2, 3 and 4 focus a pane, `z` maximizes it; `z` or esc shows all panes again.
        for key, name, back in zip(
            "2431", ("calls", "stderr", "detail", "transcript"), ("z", "escape") * 2, strict=True
        ):
            await stage.press(key)
            assert stage.focus == name
            await stage.press("z")
            await sees(stage, name)
            assert stage.pane(name).region.width == 120
            assert stage.pane(name).region.height == 50 - 4 - todo  # header, status, titles, keys
            await stage.press(back)
            await sees(stage, *NAMES)
            assert stage.focus == name
        # While a pane is maximized, a number or tab maximizes another pane instead.
        await stage.press("z", "4")
        await sees(stage, "stderr")
        await stage.press("tab", "tab")
        await sees(stage, "calls")
        assert stage.focus == "calls"
        await stage.press("z")
        # A resize shows as many panes as fit, and keeps the focus.
        for size, panes in (((140, 50), [*NAMES]), ((40, 12), ["calls"]), ((80, 24), ["calls"])):
            await stage.pilot.resize_terminal(*size)
            await sees(stage, *panes)
            assert stage.focus == "calls"
        # At 80 columns one pane is shown at a time, below the titles of all panes.
        for key, name in (("3", "detail"), ("4", "stderr"), ("1", "transcript")):
            await stage.press(key)
            await sees(stage, name)
        assert "1 Transcript 2 Calls 3 Detail 4 stderr" in stage.text()


@pytest.mark.system
async def test_calls_have_their_numbers_at_every_size() -> None:
    """The table and the transcript show the number of each call, however narrow they are."""
    async with opened(bundled("demo")) as stage:
        for size in ((160, 48), (120, 40), (100, 30), (80, 24), (60, 20), (40, 12), (24, 12)):
            await stage.pilot.resize_terminal(*size)
            for key, number in (("2", r"^.{1,2} *5 ."), ("1", r"[✓✗] #5 ")):
                with case((size, key)):
                    await stage.press(key)
                    drawn = lines_of(stage.pane(NAMES[int(key) - 1]))
                    assert any(re.search(number, line) for line in drawn), drawn


@pytest.mark.slow
async def test_calls_are_updated_ten_times_a_second_while_lines_arrive(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While lines arrive, a new call is in the transcript at once, and in the calls 0.1 s after the last."""
    path = recording(init() + started("shell", "c-1", command="echo 1"))
    async with opened(path, follow=True) as stage:
        panes = watch_screen(stage).workspace.panes
        now = monotonic() + 60
        monkeypatch.setattr("agentwatch.screen.screens.session.panes.monotonic", lambda: now)
        for number in (2, 3):
            append(path, started("shell", f"c-{number}", command=f"echo {number}"))
            stage.feed.advance()
            wait = panes.sync(None, is_streaming=True)
            assert f"echo {number}" in "\n".join(lines_of(panes.transcript))
            assert (wait, panes.calls.line_count()) == ((0.0, 2) if number == 2 else (pytest.approx(0.1), 2))
        now += 0.11
        assert (panes.sync(None, is_streaming=True), panes.calls.line_count()) == (0.0, 3)


def is_focused(stage: Stage, name: str) -> bool:
    return stage.focus == name


def is_shown(stage: Stage) -> bool:
    """Return whether the pane of stderr is on the screen."""
    return any(pane.display and pane.region.height for pane in stage.app.screen.query("#stderr"))


@pytest.mark.system
async def test_stderr_is_a_pane_if_there_is_any(recording: Saver) -> None:
    """Without stderr no key, tab or title leads to pane 4; with it, `x` hides it, which is remembered."""
    path = recording(session(2) + result())
    async with opened(path) as stage:
        for size in ((40, 12), (80, 24), (120, 40), (160, 60)):
            with case(f"{size}"):
                await stage.pilot.resize_terminal(*size)
                await stage.press("1", "shift+tab")
                assert stage.focus == "detail"
                for key in ("4", "x"):
                    await stage.press(key)
                    await stage.shows("to stderr")
                assert (stage.focus, is_shown(stage)) == ("detail", False)
                assert "4 stderr" not in stage.text()
    # It comes with the first line, which is made safe, and stays among the tabs of a narrow screen.
    async with opened(path, (120, 40)) as stage:
        workspace = watch_screen(stage).workspace
        workspace.add_stderr(["out of \x1b[2Jluck", "x" * 2000])
        await stage.shows("out of ␛[2Jluck", "stderr")
        assert stage.focus == "transcript"
        await stage.press("4", "x")
        await stage.until(lambda: not is_shown(stage), "no stderr")
        assert stage.focus == "transcript"
        workspace.add_stderr(["more"])
        await stage.settled()
        assert not is_shown(stage)
        await stage.press("4")  # which shows it for this time only
        await stage.until(lambda: is_shown(stage), "stderr")
        assert lines_of(stage.pane("stderr"))[-1] == "more"
        # The first 5,000 lines are kept, and then a note.
        workspace.add_stderr(["more"] * 6000)
        workspace.add_stderr(["more"])
        assert stage.pane("stderr").line_count() == 5001
        assert "the rest is in the .stderr file" in lines_of(stage.pane("stderr"))[-1]
    async with opened(path, (120, 40)) as stage:
        watch_screen(stage).workspace.add_stderr(["out of luck"])
        await stage.settled()
        assert not is_shown(stage)
        await stage.press("x")
        await stage.until(lambda: is_shown(stage), "stderr")
    async with opened(path, (80, 24)) as stage:
        watch_screen(stage).workspace.add_stderr(["out of luck"])
        await stage.shows("1 Transcript 2 Calls 3 Detail 4 stderr")


@pytest.mark.system
@pytest.mark.slow
async def test_c_shows_times_of_day_in_the_transcript(recording: Saver) -> None:
    """`c` shows when each entry began, and hides it again; the next start does the same."""
    path = recording(session(2) + result())
    async with opened(path) as stage:
        without = lines_of(stage.pane("transcript"))
        await stage.press("c")
        await stage.shows("09:00:00   ✓ #1 Ran terminal command echo 0", "transcript")
        assert "         " + without[-1] in lines_of(stage.pane("transcript"))
    async with opened(path) as stage:
        await stage.shows("09:00:00   ✓ #1 Ran terminal command echo 0", "transcript")
        await stage.press("c")
        await stage.until(lambda: lines_of(stage.pane("transcript")) == without, "no times")


@pytest.mark.slow
async def test_a_line_of_stderr_can_be_read_whole(recording: Saver) -> None:
    """`enter` shows the whole of the selected line, however long; `w` wraps all, with the same line
    selected."""
    words = " ".join(f"w{number}" for number in range(1, 2001))
    async with opened(recording(session(2)), (80, 24)) as stage:
        workspace = watch_screen(stage).workspace
        workspace.add_stderr(["first", f"Error: {words}", "last"])
        pane = stage.pane("stderr")
        assert isinstance(pane, CursorView)
        await stage.press("4")
        assert "w99 " not in stage.text()
        await stage.press("k", "enter")
        await stage.shows("stderr, line 2")
        await stage.press("G")
        await stage.shows("w2000")
        await stage.press("escape", "w")
        assert pane.draw_row(pane.cursor, 79).text.startswith("Error: w1")
        assert (pane.line_count() > 100, pane.below) == (True, 0)
        await stage.press("G", "k")
        await stage.shows("w2000")
        workspace.add_stderr(["more"])
        assert pane.draw_row(pane.cursor, 79).text.rstrip().endswith("w2000")
        await stage.press("w")
        assert (pane.cursor, pane.line_count()) == (1, 4)
        await stage.press("G", "enter")
        await stage.shows("stderr, line 4")
        await stage.press("enter")
        # At the end it follows; the rest of a flood is in the file.
        workspace.add_stderr(["x" * 100_000] * 60)
        assert pane.cursor == pane.line_count() - 1
        assert "the rest is in the .stderr file" in lines_of(pane)[-1]


@pytest.mark.slow
async def test_a_click_on_a_tab_shows_its_pane(recording: Saver) -> None:
    """Where one pane fits, a click on a title shows that pane, also while the titles are only numbers."""
    for width in (99, 80, 40):
        async with opened(recording(session(3)), (width, 24)) as stage:
            watch_screen(stage).workspace.add_stderr(["out of luck"])
            for name in ("calls", "stderr", "detail", "transcript"):
                with case(f"{name} at {width}"):
                    await stage.settled()
                    tabs = stage.app.screen.query_one(PaneTabs)
                    title = f"{NAMES.index(name) + 1} "
                    await stage.pilot.click(PaneTabs, offset=(str(tabs.content).index(title), 0))
                    await stage.until(partial(is_focused, stage, name), name)
                    assert stage.pane(name).outer_size.width == width


@pytest.mark.slow
async def test_enter_on_a_call_opens_its_detail_where_one_pane_fits(recording: Saver) -> None:
    """In the transcript, enter opens the detail of the selected call, and esc returns to the transcript; a
    failure whose detail was kept gives way. Where the calls are beside it, it goes to the calls."""
    data = session(6, 5) + b"".join(started("read", f"r{number}", path="a") for number in range(2))
    for size, maximizes in (((80, 24), False), ((120, 40), True), ((120, 40), False)):
        with case(f"{size} {maximizes}"):
            async with opened(recording(data), size, follow=True) as stage:
                await stage.press(*("z" * maximizes), "left_square_bracket", "enter")
                is_alone = maximizes or size[0] < 100
                pane = "detail" if is_alone else "calls"
                await stage.until(partial(is_focused, stage, pane), pane)
                detail, chosen = stage.pane("detail"), stage.calls.chosen
                assert isinstance(detail, DetailView)
                assert not is_alone or detail.call is chosen
                if is_alone and not maximizes:
                    await stage.press("escape")
                    assert stage.focus == "transcript"
                    await stage.press("2", "enter", "escape")
                    assert stage.focus == "calls"
