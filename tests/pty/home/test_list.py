"""The list of all sessions on a real terminal: opened, left, returned to, and quit."""

import re
import shutil
import signal
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, case
from tests.harness.on_a_pty import in_terminal

STEMS = ("20261101-120000-aaaaaa", "20261102-120000-bbbbbb")
pytestmark = pytest.mark.system


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


def test_a_session_is_opened_and_left(machine: dict[str, str]) -> None:
    """Enter opens the selected session in the same terminal; esc returns to the list as it was left."""
    with in_terminal(env=machine) as terminal:
        terminal.wait_for("Rename the blog")
        terminal.send("a")
        terminal.wait_until(lambda: len(set(titles(terminal.screen_text()))) == 3, what="three sessions")
        before = titles(terminal.screen_text())
        terminal.press("/timeout\r", "3 sessions ──")
        terminal.send("\x1b")
        terminal.wait_until(
            lambda: set(titles(terminal.screen_text())) == {"Raise the request timeout"}, what="search"
        )
        terminal.press("\r", "✓ succeeded 8.7 s")
        terminal.wait_for("esc Sessions")
        terminal.press("\x1b", "search “timeout”")
        assert set(titles(terminal.screen_text())) == {"Raise the request timeout"}
        terminal.send("\x1b")
        terminal.wait_until(lambda: titles(terminal.screen_text()) == before, what="all sessions")
        terminal.leave()


def test_it_is_quit(machine: dict[str, str]) -> None:
    """`q` ends an open session with 0, SIGTERM the list or a session with 143; the terminal is as before."""
    for is_opened, is_by_signal in ((True, False), (False, True), (True, True)):
        with case((is_opened, is_by_signal)), in_terminal(env=machine) as terminal:
            terminal.wait_for("Rename the blog")
            if is_opened:
                terminal.press("\r", "1 Transcript")
            if is_by_signal:
                terminal.signal(signal.SIGTERM)
            terminal.leave("" if is_by_signal else "q", 128 + signal.SIGTERM if is_by_signal else 0)


def test_an_empty_machine_shows_how_to_begin(tmp_path: Path) -> None:
    """Without any session, the screen names the commands to begin with."""
    with in_terminal(env={"HOME": str(tmp_path)}) as terminal:
        terminal.wait_for("No session of a coding agent here yet")
        terminal.wait_for("agentwatch demo")
        terminal.leave()


def test_an_option_about_one_session_needs_one(tmp_path: Path) -> None:
    """An option that cannot apply to a list is refused in one line, with 2; nothing is created."""
    for option in ("--log=x.log", "--record=x.ndjson", "--follow", "--format=cursor", "--tee"):
        with case(option), in_terminal(option, env={"HOME": str(tmp_path)}) as terminal:
            terminal.wait_for(f"agentwatch: {option.partition('=')[0]}: name a FILE")
            assert terminal.wait_exit() == 2
            assert not list(tmp_path.iterdir())
