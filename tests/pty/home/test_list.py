"""The list of all sessions on a real terminal: opened, left, returned to, and quit."""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, case
from tests.harness.on_a_pty import in_terminal

STEMS = ("20261101-120000-aaaaaa", "20261102-120000-bbbbbb")
pytestmark = pytest.mark.slow


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a machine with two recordings of our own and a session of Claude Code."""
    folder = home / "sessions"
    folder.mkdir(parents=True)
    for name, stem in zip(("plain", "demo"), STEMS, strict=True):
        shutil.copy(RECORDINGS / f"{name}.ndjson", folder / f"{stem}.ndjson")
    project = tmp_path / "user" / ".claude" / "projects" / "-home-ada-site"
    project.mkdir(parents=True)
    (project / "0f4c2b7e-1111-4222-8333-444455556666.jsonl").write_bytes(
        b'{"type":"user","sessionId":"0f4c2b7e-1111-4222-8333-444455556666","cwd":"/home/ada/site",'
        b'"uuid":"u1","message":{"role":"user","content":"Rename the blog"}}\n'
    )
    return {"HOME": str(tmp_path / "user"), "TERM": "xterm-256color"}


def titles(text: str) -> list[str]:
    """Return the known titles that the screen shows, from the top."""
    return re.findall(r"Rename the blog|test_nearest_low_just_past|Raise the request timeout", text)


@pytest.mark.system
def test_a_session_is_opened_and_left(machine: dict[str, str]) -> None:
    """Enter opens the selected session in the same terminal; esc returns to the list as it was left."""
    with in_terminal(env=machine) as terminal:
        terminal.wait_for("Rename the blog")
        terminal.send("a")
        terminal.wait_until(lambda: len(set(titles(terminal.screen_text()))) == 3, what="three sessions")
        before = titles(terminal.screen_text())
        terminal.send("/timeout\r")
        terminal.wait_for("3 sessions ──")
        terminal.send("\x1b")
        terminal.wait_until(
            lambda: set(titles(terminal.screen_text())) == {"Raise the request timeout"}, what="search"
        )
        terminal.send("\r")
        terminal.wait_for("✓ succeeded 8.7 s")
        terminal.wait_for("esc Sessions")
        terminal.send("\x1b")
        terminal.wait_for("search “timeout”")
        assert set(titles(terminal.screen_text())) == {"Raise the request timeout"}
        terminal.send("\x1b")
        terminal.wait_until(lambda: titles(terminal.screen_text()) == before, what="all sessions")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()


@pytest.mark.system
def test_quitting_from_a_session(machine: dict[str, str]) -> None:
    """`q` in an open session quits with 0, and the terminal is as before."""
    with in_terminal(env=machine) as terminal:
        terminal.wait_for("Rename the blog")
        terminal.send("\r")
        terminal.wait_for("1 Transcript")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()


@pytest.mark.system
@pytest.mark.parametrize("is_opened", [False, True])
def test_a_signal_ends_it(machine: dict[str, str], is_opened: bool) -> None:
    """SIGTERM ends the list, and an open session, with 143 and the terminal as before."""
    with in_terminal(env=machine) as terminal:
        terminal.wait_for("Rename the blog")
        if is_opened:
            terminal.send("\r")
            terminal.wait_for("1 Transcript")
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit() == 128 + signal.SIGTERM
        assert terminal.restored(), terminal.leftovers()


@pytest.mark.system
def test_an_empty_machine_shows_how_to_begin(tmp_path: Path) -> None:
    """Without any session, the screen names the commands to begin with."""
    with in_terminal(env={"HOME": str(tmp_path)}) as terminal:
        terminal.wait_for("No session of a coding agent here yet")
        terminal.wait_for("agentwatch demo")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()


@pytest.mark.system
def test_nothing_is_written(machine: dict[str, str], tmp_path: Path) -> None:
    """Opening a session of another program writes nothing beside it."""
    user = tmp_path / "user"
    before = sorted(user.rglob("*"))
    with in_terminal(env=machine) as terminal:
        terminal.wait_for("Rename the blog")
        terminal.send(" ")
        terminal.wait_for("Preview")
        terminal.send("\r")
        terminal.wait_for("1 Transcript")
        terminal.send("\x1b")
        terminal.wait_for("Preview")
        terminal.send("q")
        assert terminal.wait_exit() == 0
    assert sorted(user.rglob("*")) == before


@pytest.mark.system
def test_an_option_about_one_session_needs_one(tmp_path: Path) -> None:
    """An option that cannot apply to a list is refused in one line, with 2; nothing is created."""
    for option in ("--log=x.log", "--record=x.ndjson", "--follow", "--format=cursor", "--tee"):
        with case(option), in_terminal(option, env={"HOME": str(tmp_path)}) as terminal:
            terminal.wait_for(f"agentwatch: {option.partition('=')[0]}: name a FILE")
            assert terminal.wait_exit() == 2
            assert not list(tmp_path.iterdir())
