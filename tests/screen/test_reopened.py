"""A large recording that was opened once is shown whole at once, from its index."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.feed.index import index
from agentwatch.screen import first_shown
from agentwatch.screen.moment.moment import Moment
from agentwatch.screen.screen import WatchScreen
from tests.builders.lines import completed, result, started
from tests.builders.screen.app import PANES, Stage, lines_of, opened
from tests.screen.test_large_files import large


@pytest.fixture(autouse=True)
def large_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings of any size have a preview and an index."""
    monkeypatch.setattr(first_shown, "_LARGE_BYTES", 0)
    monkeypatch.setattr(index, "LEAST_BYTES", 0)


def screen_of(stage: Stage) -> WatchScreen:
    """Return the screen of the session."""
    screen = stage.app.screen_stack[0]
    assert isinstance(screen, WatchScreen)
    return screen


def has_preview(stage: Stage) -> bool:
    """Return whether the screen began with a preview."""
    return screen_of(stage)._swap is not None


def moment_of(stage: Stage) -> Moment:
    """Return the moment of the screen."""
    return screen_of(stage)._moment


async def whole(stage: Stage) -> list[list[str]]:
    """Wait until everything is shown and measured; return the lines of all panes."""
    screen = screen_of(stage)
    await stage.until(lambda: screen._swap is None or not screen._swap.is_loading, "the whole session")
    await stage.until(
        lambda: not screen.workspace.panes.transcript.viewport.is_measuring, "the measured transcript"
    )
    await stage.until(lambda: stage.app.focused, "the focus")
    return [lines_of(stage.pane(name)) for name in PANES]


async def first_opening(path: Path) -> list[list[str]]:
    """Open a recording until its index is written; return the lines of its panes."""
    async with opened(path) as stage:
        assert has_preview(stage)
        lines = await whole(stage)
        await stage.until(path.with_suffix(".index").exists, "the index")
        return lines


async def test_the_second_opening_shows_everything_at_once(tmp_path: Path) -> None:
    """Without a preview, all panes have the lines that they had before, also at another width."""
    path = large(tmp_path / "r.ndjson", 300, result("all"))
    before = await first_opening(path)
    async with opened(path) as stage:
        assert not has_preview(stage)
        assert await whole(stage) == before
    async with opened(path, size=(70, 20)) as stage:
        narrow = await whole(stage)
    path.with_suffix(".index").unlink()
    async with opened(path, size=(70, 20)) as stage:
        assert has_preview(stage)
        assert await whole(stage) == narrow


async def test_a_recording_that_has_grown_is_laid_out_again(tmp_path: Path) -> None:
    """The rest of a recording that has grown is read and shown behind a preview."""
    path = large(tmp_path / "r.ndjson", 300)
    await first_opening(path)
    with path.open("ab") as growing:
        growing.write(started("read", "new", path="new.py") + completed("read", "new", {"success": {}}))
        growing.write(result("all"))
    async with opened(path) as stage:
        assert has_preview(stage)
        grown = await whole(stage)
        assert moment_of(stage).history.at(2000).session.calls
    path.with_suffix(".index").unlink()
    async with opened(path) as stage:
        assert await whole(stage) == grown
    assert "new.py" in "\n".join(grown[1])


async def test_moments_are_there_after_the_second_opening(tmp_path: Path) -> None:
    """Going back one call shows the recording as it was, and the search finds its first words."""
    path = large(tmp_path / "r.ndjson", 300, result("all"))
    await first_opening(path)
    async with opened(path) as stage:
        await stage.press("less_than_sign")
        await stage.until(lambda: not moment_of(stage).is_live, "an earlier moment")
        await stage.press("L")
        await stage.until(lambda: moment_of(stage).is_live, "the live moment")
        await stage.press("slash", *"Sentence", "space", "7", "full_stop", "enter")
        await stage.shows("Sentence 7.")


async def test_a_damaged_layout_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If only the layout cannot be read, the session is laid out again."""
    path = large(tmp_path / "r.ndjson", 300, result("all"))
    before = await first_opening(path)
    monkeypatch.setattr(index.Restored, "layout", lambda *_: None)
    async with opened(path) as stage:
        assert has_preview(stage)
        assert await whole(stage) == before
