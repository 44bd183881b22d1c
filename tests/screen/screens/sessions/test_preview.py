"""The preview shows the end of the selected session, its open calls and its to-do list."""

import asyncio
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.digest.digest import LastTests
from agentwatch.catalog.session_status import Ground
from agentwatch.recording.write_lock import hold
from agentwatch.screen.screens.sessions import preview as tail_module
from agentwatch.screen.screens.sessions.preview import Previewed, PreviewPane, tail_session
from tests.builders.home.home_app import NOW_MS, row
from tests.builders.lines import delta, init, started
from tests.builders.machine.app import HomeStage, at_home, descriptors
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.slow

DEMO = RECORDINGS / "demo.ndjson"
PLAIN = RECORDINGS / "plain.ndjson"


def preview(stage: HomeStage) -> PreviewPane:
    return stage.home.query_one(PreviewPane)


@pytest.mark.system
async def test_space_shows_the_end_of_the_selected_session(tmp_path: Path) -> None:
    """The preview shows the last lines of the selected session, its title and tests, or why it has none."""
    async with at_home([row("one", path=PLAIN, title="Timeout")]) as stage:
        # The preview opens beside the list; the keys stay in the list.
        await stage.press("space")
        await stage.shows("Preview · Timeout")
        await stage.shows("TIMEOUT_SECONDS in lantern/settings.py is now 45.")
        assert stage.app.focused is stage.home.query_one("#sessions")
        pane = preview(stage)
        assert pane.region.x > 0
        await stage.press("escape")
        assert not pane.display
        await stage.press("space")
        assert pane.display
        await stage.press("space")
        assert not pane.display
        # The list shows a session before it has read its lines.
        await stage.begin(row("one", path=PLAIN, title="", is_read=False))
        await stage.press("space")
        await stage.shows("Preview · …")
        await stage.put(row("one", path=PLAIN, title="Timeout"))
        await stage.shows("Preview · Timeout")
        # The preview names the newest verdict of tests, and that a file changed since.
        await stage.begin(row("one", path=PLAIN, title="Timeout", tests=LastTests(False, 17, 0)))
        await stage.press("space")
        await stage.shows("tests ✓ 17 ")
        await stage.put(row("one", path=PLAIN, title="Timeout", tests=LastTests(False, 17, 0, is_stale=True)))
        await stage.shows("tests ✓ 17, a file changed since")
        await stage.put(row("one", path=PLAIN, title="Timeout"))
        await stage.until(lambda: not str(preview(stage).border_subtitle), "no verdict")
        # With another session selected, its last lines are shown.
        await stage.begin(row("one", path=PLAIN), row("two", path=DEMO))
        await stage.choose("one")
        await stage.press("space")
        await stage.shows("TIMEOUT_SECONDS in lantern/settings.py is now 45.")
        await stage.choose("two")
        await stage.shows("5 of 5 done")
        assert "lantern" not in stage.text
        await stage.choose("one")
        await stage.shows("TIMEOUT_SECONDS in lantern/settings.py is now 45.")
        # The preview names the reason, and the list goes on.
        rows = [row("gone", path=tmp_path / "gone.jsonl"), row("listed", can_open=False)]
        await stage.begin(*rows)
        await stage.choose("listed")
        await stage.press("space")
        await stage.shows("only its metadata can be read")
        await stage.choose("gone")
        await stage.shows("cannot be read: no such file or directory")
        # A session without any line has nothing to show yet.
        path = tmp_path / "empty.jsonl"
        path.write_bytes(b"")
        await stage.begin(row("empty", path=path))
        await stage.press("space")
        await stage.shows("nothing in it yet")
        # New lines of the selected session appear.
        path = tmp_path / "live.ndjson"
        path.write_bytes(init() + delta("First answer.\n\n"))
        await stage.begin(row("one", path=path, size=1))
        await stage.press("space")
        await stage.shows("First answer.")
        path.write_bytes(path.read_bytes() + delta("Second answer."))
        await stage.put(row("one", path=path, size=2))
        await stage.shows("Second answer.")
        # At 80 columns the preview takes the lower part of the screen.
        await stage.pilot.resize_terminal(80, 24)
        await stage.begin(row("one", path=PLAIN))
        await stage.press("space")
        await stage.shows("✓ succeeded in 8.7 s")
        sessions = stage.home.query_one("#sessions")
        assert preview(stage).region.y >= sessions.region.bottom
        assert preview(stage).region.x == 0


@pytest.mark.system
async def test_what_runs_or_asks_stands_in_the_preview(tmp_path: Path) -> None:
    """An open call has a clock that goes on; one that the agent asks about waits for the user meanwhile."""
    path = tmp_path / "live.ndjson"
    began_ms = NOW_MS - 48_000
    path.write_bytes(init() + delta("Now the tests.") + started("shell", command="pytest -q"))
    (tmp_path / "live.times").write_text(f"0 {began_ms}\n")
    async with at_home([row("one", path=path)]) as stage:
        # A call that runs stands in the preview with its clock, which goes on.
        await stage.press("space")
        await stage.shows("── now ")
        line = [line for line in stage.lines if "pytest -q" in line][-1]
        assert re.search(r"(4[89]|5\d)\.\d s|\d:\d\d", line)
        await stage.until(lambda: line not in stage.lines, "the next second")
        # The list has one line of a command, the preview all of its lines, and the key of its terminal.
        path = tmp_path / "live.ndjson"
        command = "set -e\nrm -rf build\n" + "make dist " * 12 + "last word"
        path.write_bytes(init() + started("shell", command=command))
        asked: dict[str, Any] = {"path": path, "now": f"shell {command}"[:100], "since_ms": NOW_MS - 183_000}
        await stage.begin()
        for size in ((120, 40), (80, 24)):
            await stage.pilot.resize_terminal(*size)
            await stage.begin(row("one", State.ASKS, **asked, tmux="main:@1.%2"))
            await stage.press("space")
            for words in (
                "· shell ─",
                "set -e",
                "rm -rf build",
                "last word",
                "t: answer it in its terminal, tmux main",
            ):
                await stage.shows(words)
            await stage.put(row("one", State.ASKS, Ground.INFERRED, **asked, pid=47))
            await stage.shows("answer it in its terminal (process 47)")
            await stage.shows("last word")
            path.with_suffix(".sent").touch()
            await stage.put(row("one", State.ASKS, **asked, is_own=True))
            await stage.shows("answer it in its editor")
            path.with_suffix(".sent").unlink()
            await stage.put(row("one", path=path))
            await stage.until(lambda: "answer it" not in stage.text, "no question")


@pytest.mark.system
async def test_a_call_that_the_agent_asks_about_waits_for_the_user(tmp_path: Path) -> None:
    """The preview and the session say so as soon as the list knows it, and no longer than that."""
    path = tmp_path / "live.ndjson"
    path.write_bytes(init() + started("shell", command="rm -rf build"))
    with path.open("ab") as writer:
        hold(writer.fileno())
        asks = row("one", State.ASKS, path=path, now="shell rm -rf build", since_ms=NOW_MS - 183_000)
        async with at_home([row("one", path=path)]) as stage:
            await stage.press("space")
            await stage.shows("◐ Running rm -rf build")
            await stage.put(asks)
            await stage.shows("! Wants to run rm -rf build")
            await stage.shows("── ! asks · 3:")
            assert "Running" not in stage.text
            await stage.open()
            await stage.shows("! asks 3:")
            await stage.shows(" 1 call · 1 asks")
            assert "◐" not in stage.text
            await stage.put(row("one", path=path))
            await stage.shows("◐ running")
            assert "asks" not in stage.text


@pytest.mark.system
async def test_a_held_key_reads_the_last_session_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sessions that the cursor passes are not read, and one at a time is."""
    read: list[Path] = []
    running = threading.Semaphore(1)

    def tail(path: Path, *, is_live: bool) -> Previewed:
        assert is_live, path
        assert running.acquire(blocking=False), "two sessions are read at a time"
        read.append(path)
        session = tail_session(PLAIN, is_live=True)
        running.release()
        return session

    monkeypatch.setattr(tail_module, "tail_session", tail)
    rows = [row(f"s{number:02}", State.WORKING) for number in range(30)]
    async with at_home(rows) as stage:
        await stage.press("space")
        await stage.until(lambda: read, "the first session")
        await stage.pilot.press(*["j"] * 20)
        assert stage.chosen is not None
        wanted = stage.chosen.path
        await stage.until(lambda: read[-1] == wanted, "the last session")
        assert len(read) < 10


def test_a_large_recording_is_read_at_its_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 50 MB, less than a megabyte is read, and the last line is there."""
    path = tmp_path / "large.ndjson"
    line = delta("x" * 1000)
    path.write_bytes(init() + line * 50_000 + started("shell", command="ls") + delta("The end."))
    size = path.stat().st_size
    places: list[int] = []
    pread = os.pread

    def noted(fd: int, length: int, offset: int) -> bytes:
        places.append(offset)
        return pread(fd, length, offset)

    monkeypatch.setattr("os.pread", noted)
    session = tail_session(path, is_live=False).session
    assert session.transcript[-1].text.endswith("The end.")
    assert all(at == 0 or at > size - (1 << 19) for at in places)


def test_reading_leaves_no_descriptor() -> None:
    """The recording is closed, whatever it contains."""
    before = descriptors()
    tail_session(PLAIN, is_live=True)
    with pytest.raises(OSError, match="No such file"):
        tail_session(Path("/gone.jsonl"), is_live=False)
    assert descriptors() == before


@pytest.mark.system
async def test_closing_the_app_while_a_session_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The app ends although the preview is still being read."""
    held = threading.Event()

    def tail(path: Path, *, is_live: bool) -> Previewed:
        held.wait(20)
        return tail_session(path, is_live=is_live)

    monkeypatch.setattr(tail_module, "tail_session", tail)
    async with at_home([row("one", path=PLAIN)]) as stage:
        await stage.press("space")
        await stage.until(lambda: preview(stage)._is_reading, "the reading")
        stage.app.exit()
        await asyncio.sleep(0)
        held.set()
