"""Each pane has a key; the panes are shown side by side where they fit, else one at a time."""

from __future__ import annotations

from time import monotonic

import pytest

from tests.builders.lines import init, started
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import PANES, Stage, bundled, lines_of, opened
from tests.builders.screen.lines import append
from tests.conftest import Saver

pytestmark = pytest.mark.slow


def shown(stage: Stage) -> list[str]:
    """Return the names of the visible panes."""
    return [name for name in PANES if stage.pane(name).region.area and stage.pane(name).is_on_screen]


async def sees(stage: Stage, *names: str) -> None:
    """Wait until exactly these panes are visible."""
    await stage.until(lambda: shown(stage) == [*names], f"{names} alone")


@pytest.mark.system
async def test_numbers_go_to_the_panes() -> None:
    """1, 2, 3 and 4 focus the transcript, the calls, the detail and the log."""
    async with opened(bundled("demo")) as stage:
        assert stage.focus == "transcript"
        for key, name in (("2", "calls"), ("4", "log"), ("3", "detail"), ("1", "transcript")):
            await stage.press(key)
            assert stage.focus == name


@pytest.mark.system
async def test_tab_goes_round_the_panes() -> None:
    """Tab focuses the next pane and shift+tab the previous one, wrapping around."""
    async with opened(bundled("demo"), (120, 50)) as stage:
        await stage.press("x")
        found = []
        for key in ("tab", "tab", "tab", "tab", "shift+tab", "shift+tab"):
            await stage.press(key)
            found.append(stage.focus)
        assert found == ["calls", "detail", "log", "transcript", "log", "detail"]


@pytest.mark.system
@pytest.mark.parametrize("back", ["m", "escape"])
async def test_a_pane_can_be_maximised(back: str) -> None:
    """`m` maximizes the focused pane; `m` or esc shows all panes again."""
    async with opened(bundled("demo"), (120, 50)) as stage:
        todo = stage.app.screen.query_one("#todo").region.height
        assert todo == 1
        await stage.press("x")
        for key, name in zip("1234", PANES, strict=True):
            await stage.press(key, "m")
            await sees(stage, name)
            assert stage.pane(name).region.width == 120
            assert stage.pane(name).region.height == 50 - 4 - todo  # header, status, titles, keys
            await stage.press(back)
            await sees(stage, *PANES)
            assert stage.focus == name


@pytest.mark.system
async def test_while_maximised_another_pane_can_be_shown() -> None:
    """While a pane is maximized, a number or tab maximizes another pane instead."""
    async with opened(bundled("demo")) as stage:
        await stage.press("m", "4")
        await sees(stage, "log")
        await stage.press("tab", "tab")
        await sees(stage, "calls")
        assert stage.focus == "calls"


@pytest.mark.system
async def test_a_narrow_terminal_shows_one_pane() -> None:
    """At 80 columns one pane is shown at a time, below the titles of all panes."""
    async with opened(bundled("demo"), (80, 24)) as stage:
        assert shown(stage) == ["transcript"]
        for key, name in (("2", "calls"), ("3", "detail"), ("4", "log"), ("1", "transcript")):
            await stage.press(key)
            await sees(stage, name)
        assert "1 Transcript 2 Calls 3 Detail 4 Actions" in stage.text()


@pytest.mark.system
async def test_a_resize_shows_the_panes_that_fit() -> None:
    """A resize shows as many panes as fit, and keeps the focus."""
    async with opened(bundled("demo")) as stage:
        await stage.press("x", "2")
        for size, panes in (((80, 24), ["calls"]), ((40, 12), ["calls"]), ((140, 50), [*PANES])):
            await stage.pilot.resize_terminal(*size)
            await sees(stage, *panes)
            assert stage.focus == "calls"


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
