"""A session, also of another machine, is opened from the list in the same app; the list is left as it was."""

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.row import Row
from agentwatch.recording.write_lock import hold
from agentwatch.remote.card import Card
from agentwatch.screen.screens.session.screen import WatchScreen
from tests.builders.home.home_app import NOW_MS, row
from tests.builders.machine.app import HomeStage, at_home, descriptors
from tests.builders.machine.made import Story, written
from tests.builders.screen.lines import append
from tests.conftest import RECORDINGS
from tests.harness.engine.server import Server
from tests.remote.conftest import SESSION, Publisher, published

pytestmark = pytest.mark.slow

DEMO = RECORDINGS / "demo.ndjson"
PLAIN = RECORDINGS / "plain.ndjson"


def without_clocks(stage: HomeStage) -> str:
    """Return the screen as text without the times, which go on."""
    return re.sub(r"[\d:]+ ", "", stage.text)


@pytest.mark.system
async def test_escape_returns_to_the_list_as_it_was() -> None:
    """The machine knows the rows in view; after a session, choice, scroll and filter are as before."""
    rows = [row(f"s{number:02}", path=PLAIN, seen_ms=number + 1) for number in range(60)]
    async with at_home(rows, size=(120, 20)) as stage:
        # The machine knows the sessions whose rows are in view, and of an open session only that one.
        await stage.until(lambda: stage.machine.in_view, "the sessions in view")
        seen = {each.key for each in rows if any(f"Title of {each.id} " in line for line in stage.lines)}
        assert stage.machine.in_view == seen
        assert rows[0].key not in seen
        await stage.press("G")
        await stage.put(row("s59", path=PLAIN, seen_ms=60, now="make"))
        assert rows[0].key in (stage.machine.in_view or ())
        await stage.open("s40")
        await stage.put(row("s59", path=PLAIN, seen_ms=60))
        assert stage.machine.in_view == {row("s40").key}
        # The choice, the scroll position and the filter of the list are as before.
        rows = [row(f"s{number:02}", path=PLAIN, seen_ms=number) for number in range(60)]
        await stage.begin(*rows)
        await stage.press("f", *"title", "enter")
        await stage.press(*["j"] * 40)
        before, chosen = without_clocks(stage), stage.chosen
        await stage.open()
        await stage.shows("esc Sessions")
        await stage.shows("✓ succeeded")
        await stage.back()
        await stage.until(lambda: without_clocks(stage) == before, "the list as it was")
        assert stage.chosen == chosen


@pytest.mark.system
async def test_a_live_session_is_followed(tmp_path: Path) -> None:
    """A recording that its writer still has open grows on the screen."""
    data = PLAIN.read_bytes()
    half = data.index(b"\n", len(data) // 2) + 1
    path = tmp_path / "live.ndjson"
    path.write_bytes(data[:half])
    with path.open("ab") as writer:
        hold(writer.fileno())
        async with at_home([row("one", path=path)]) as stage:
            await stage.open()
            await stage.shows("◐ running")
            append(path, data[half:])
            await stage.shows("✓ succeeded")


@pytest.mark.system
async def test_a_session_runs_on_its_screen_if_it_does_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of a killed agent may be new, and that of a live one old; the list knows which."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    path = tmp_path / "projects" / "-w" / "0f4c2b7e-1111-4222-8333-444455556666.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(written("claude", Story(path.stem, "/w", "Run the tests", NOW_MS, is_open=True)))
    async with at_home([]) as stage:
        for state, shown in (
            (State.UNFINISHED, "◌ unfinished"),
            (State.FAILED, "◌ unfinished"),
            (State.WORKING, "◐ running"),
        ):
            if state is State.WORKING:
                os.utime(path, (0, 0))
            await stage.begin(row("one", state, path=path))
            await stage.open()
            await stage.shows(shown)


async def test_a_session_is_opened_in_the_app_of_the_list(tmp_path: Path) -> None:
    """Escape leads back, what happens meanwhile is shown, and what cannot be opened is one line."""
    async with at_home([row("listed", can_open=False)]) as stage:
        # A session of which only the metadata can be read is not opened.
        await stage.press("enter")
        await stage.shows("only the metadata of this session can be read")
        # The list stays, and a message names the reason.
        await stage.begin(row("gone", path=tmp_path / "gone.jsonl"))
        await stage.press("enter")
        await stage.shows("cannot open")
        await stage.shows("no such file or directory")
        assert stage.app.screen is stage.home
        # The sessions are watched while one of them is open.
        await stage.begin(row("one", path=PLAIN))
        await stage.open()
        steps = stage.machine.steps
        await stage.put(row("two", State.ASKS, now="Bash rm -rf build", path=PLAIN))
        assert stage.machine.steps > steps
        await stage.back()
        await stage.shows("Bash rm -rf build")
        # With a filter of the calls, esc clears it; the next one returns to the list.
        await stage.begin(row("one", path=DEMO))
        screen = await stage.open()
        await stage.press("f", *"shell", "enter")
        assert screen.workspace.panes.calls.listed.requested_filter == "shell"
        await stage.press("escape")
        assert isinstance(stage.app.screen, WatchScreen)
        assert not screen.workspace.panes.calls.listed.requested_filter
        await stage.back()
        # The question may be nowhere in its lines; it vanishes when it is answered.
        await stage.begin(row("one", State.ASKS, now="permission", path=PLAIN))
        await stage.open()
        await stage.shows("waits for your permission")
        await stage.shows("answer it in its terminal: esc t")
        await stage.put(row("one", State.YOUR_TURN, path=PLAIN))
        await stage.until(lambda: "asks" not in stage.text, "no question")
        # `q` ends the program in a session as in the list.
        await stage.begin(row("one", path=PLAIN))
        await stage.open()
        await stage.press("q")
        await stage.until(lambda: not stage.app.is_running, "the end")


@pytest.mark.system
async def test_a_file_that_is_replaced_is_opened_again(tmp_path: Path) -> None:
    """When another file takes the place of the one that is followed, that one is shown."""
    path = tmp_path / "session.ndjson"
    data = PLAIN.read_bytes()
    path.write_bytes(data[: data.index(b"\n", len(data) // 2) + 1])
    with path.open("ab") as writer:
        hold(writer.fileno())
        async with at_home([row("one", path=path)]) as stage:
            await stage.open()
            await stage.shows("◐ running")
            other = tmp_path / "other"
            other.write_bytes(data)
            other.replace(path)
            await stage.shows("✓ succeeded")
            await stage.back()


@pytest.mark.long
async def test_opened_sessions_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a session was opened and left 50 times, nothing of them is left open."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    claude = tmp_path / "projects" / "-src" / "0f4c2b7e-1111-4222-8333-444455556666.jsonl"
    claude.parent.mkdir(parents=True)
    claude.write_bytes(b'{"type":"user","sessionId":"x","message":{"role":"user","content":"go on"}}\n')
    rows = [row("plain", path=PLAIN), row("claude", path=claude)]
    async with at_home(rows) as stage:
        counts = []
        for number in range(50):
            await stage.open("plain" if number % 2 else "claude")
            names = [thread.name for thread in threading.enumerate()]
            assert names.count("store") == (number + 1) % 2
            await stage.back()
            await stage.until(lambda: stage.app._being_closed == 0, "the end of the session")
            named = {thread.name for thread in threading.enumerate()}
            counts.append((len(descriptors()), "store" in named))
        assert counts[-1] == counts[5]
        assert not counts[-1][1]


@pytest.mark.system
async def test_enter_replays_the_demo_on_an_empty_machine(home: Path) -> None:
    """The bundled session is replayed from its start, esc returns, and nothing is written."""
    async with at_home([], size=(120, 30)) as stage:
        await stage.shows("No session of a coding agent here yet")
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, WatchScreen), "the demo")
        await stage.shows("esc Sessions")
        await stage.until(lambda: stage.app.screen.has_class("-earlier"), "the replay")
        assert "14 calls · 1 failed" not in stage.text  # the demo takes 70 s
        await stage.press("L")
        await stage.shows("14 calls · 1 failed")
        await stage.back()
        await stage.shows("No session of a coding agent here yet")
    assert written_in(home) == []


def written_in(home: Path) -> list[Path]:
    """Return the saved sessions."""
    return list(home.glob("sessions/*"))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[Server, Publisher]]:
    """Yield a server and a publisher of one session."""
    with published(tmp_path) as both:
        yield both


def of(server: Server, **fields: Any) -> Row:
    """Return the row of the published session."""
    return row("one", path=Path(), address=f"{server.address}/{SESSION}", host="build-7", **fields)


@pytest.mark.system
async def test_a_session_is_followed_while_it_is_published(engine: tuple[Server, Publisher]) -> None:
    """Lines that are published while the session is open are shown, and the header names the machine."""
    server, publisher = engine
    lines = PLAIN.read_bytes().splitlines(keepends=True)
    publisher.send(*lines[:5])
    publisher.card(Card(host="build-7", outcome="running"))
    async with at_home([of(server)]) as stage:
        await stage.open()
        await stage.shows("◐ running")
        await stage.shows(f"⇣ 127.0.0.1:{server.port} · build-7")
        publisher.send(*lines[5:])
        publisher.end()
        await stage.shows("✓ succeeded")
        await stage.back()


@pytest.mark.system
async def test_the_editor_is_not_offered(engine: tuple[Server, Publisher]) -> None:
    """The footer does not name `o`; it says that the files are on another machine, and opens nothing."""
    server, publisher = engine
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    async with at_home([of(server)]) as stage:
        await stage.open()
        await stage.press("2")
        await stage.shows("Slowest")
        assert "Edit" not in stage.lines[-1]
        await stage.press("o")
        await stage.shows("on another machine")


@pytest.mark.system
async def test_a_lost_engine_is_named_until_it_is_back(engine: tuple[Server, Publisher]) -> None:
    """The status line says since when there is no touch; what is shown stays."""
    server, publisher = engine
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True)[:5])
    async with at_home([of(server)], size=(140, 30)) as stage:
        await stage.open()
        await stage.shows("◐ running")
        server.kill()
        await stage.shows("lost touch since ")
        status = stage.lines[1]
        assert server.address not in status  # the header names it
        assert "connect" in status
        server.restart()
        await stage.until(lambda: "lost touch" not in stage.text, "the engine")


@pytest.mark.system
async def test_a_session_that_cannot_be_read_is_reported(engine: tuple[Server, Publisher]) -> None:
    """Without engine and copy, the list stays and says why."""
    server, _ = engine
    server.kill()
    async with at_home([of(server)]) as stage:
        await stage.press("enter")
        await stage.shows(server.address)
    server.restart()


@pytest.mark.system
async def test_a_preview_shows_what_is_reported_then_the_copy(engine: tuple[Server, Publisher]) -> None:
    """Before the session was read, the preview shows its prompt and its last text; later its last lines."""
    server, publisher = engine
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    async with at_home([of(server, title="Raise the timeout", last_text="It is *done*.")]) as stage:
        await stage.press("space")
        await stage.shows("It is done.")
        await stage.open()
        await stage.shows("✓ succeeded")
        await stage.back()
        await stage.put(of(server, size=1))
        await stage.shows("TIMEOUT_SECONDS in lantern/settings.py is now 45.")
