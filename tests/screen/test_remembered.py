"""The parts of the screen that the user shows or hides, and what is remembered of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentwatch.recording.remembered import remember, remembered
from tests.builders.screen.app import Stage, lines_of, opened
from tests.builders.screen.lines import result, session
from tests.conftest import Saver, case


def is_shown(stage: Stage) -> bool:
    """Return whether the actions pane is on the screen."""
    return bool(stage.pane("log").display and stage.pane("log").region.height)


@pytest.mark.system
async def test_the_actions_are_hidden_by_default_at_every_size(recording: Saver) -> None:
    """The actions pane repeats the transcript: until the user shows it, tab and the tab line skip it."""
    async with opened(recording(session(2) + result())) as stage:
        for size in ((40, 12), (80, 24), (120, 40), (160, 60)):
            with case(f"{size}"):
                await stage.pilot.resize_terminal(*size)
                assert not is_shown(stage)
                await stage.press("1", "shift+tab")
                assert stage.focus == "detail"
                assert "Actions" not in stage.text()


@pytest.mark.system
async def test_x_hides_the_actions_and_is_remembered(recording: Saver) -> None:
    """`x` shows or hides the actions pane, and the next start does the same."""
    path = recording(session(2) + result())
    async with opened(path, (120, 40)) as stage:
        await stage.press("4")  # which shows them for this time only
        await stage.until(lambda: is_shown(stage), "the actions")
        assert stage.focus == "log"
    async with opened(path, (120, 40)) as stage:
        assert not is_shown(stage)
        await stage.press("x")
        await stage.until(lambda: is_shown(stage), "the actions")
    async with opened(path, (120, 40)) as stage:
        await stage.until(lambda: is_shown(stage), "the actions")
        await stage.press("4", "x")
        await stage.until(lambda: not is_shown(stage), "no actions")
        assert stage.focus == "transcript"
    async with opened(path, (80, 24)) as stage:
        await stage.press("x")
        await stage.shows("1 Transcript 2 Calls 3 Detail 4 Actions")
    async with opened(path, (120, 60)) as stage:
        assert is_shown(stage)


@pytest.mark.system
@pytest.mark.slow
async def test_c_shows_times_of_day_in_the_transcript(recording: Saver) -> None:
    """`c` shows when each entry began, and hides it again; the next start does the same."""
    path = recording(session(2) + result())
    async with opened(path) as stage:
        without = lines_of(stage.pane("transcript"))
        await stage.press("c")
        await stage.shows("09:00:00   ✓ Ran terminal command echo 0", "transcript")
        assert "         " + without[-1] in lines_of(stage.pane("transcript"))
    async with opened(path) as stage:
        await stage.shows("09:00:00   ✓ Ran terminal command echo 0", "transcript")
        await stage.press("c")
        await stage.until(lambda: lines_of(stage.pane("transcript")) == without, "no times")


def test_what_is_remembered_is_private_and_survives_a_broken_file(home: Path) -> None:
    """The file is readable by the user alone, and a broken one counts as none."""
    remember("actions", True)
    remember("times", False)
    (file,) = home.glob("screen.json*")
    assert file.stat().st_mode & 0o777 == 0o600
    remember("sort", "age")
    assert json.loads(file.read_text()) == {"actions": True, "times": False, "sort": "age"}
    assert (remembered("sort", str), remembered("sort", bool), remembered("times", bool)) == (
        "age",
        None,
        False,
    )
    remember("sort", None)
    assert json.loads(file.read_text()) == {"actions": True, "times": False}
    for broken in (b"", b"[1]", b"\xff", b"[" * 5000, b'{"actions": 3}'):
        file.write_bytes(broken)
        assert remembered("actions", bool) is None
    remember("actions", False)
    assert remembered("actions", bool) is False


def test_a_folder_that_cannot_be_written_is_no_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If nothing can be remembered, nothing happens."""
    home.mkdir()
    blocked = home / "file"
    blocked.write_text("")
    monkeypatch.setitem(os.environ, "AGENTWATCH_HOME", str(blocked / "inside"))
    remember("actions", True)
    assert remembered("actions", bool) is None
