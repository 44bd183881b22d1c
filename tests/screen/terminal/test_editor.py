"""A call's file is opened in the user's own editor, or a sentence says why not."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.screen.terminal.editor import Unopened, editor, file_of
from agentwatch.session import Call, Run, Session
from tests.conftest import ROOT
from tests.harness.terminal import Terminal

APP = """
import os, sys
from textual.widgets import Static
from agentwatch.screen.terminal.editor import open_in_editor
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.session import Call, Run, Session
from agentwatch.cli.terminal import claimed_terminal
from agentwatch.screen.terminal.signals import HeldSignals

class Opener(TerminalApp[None]):
    BINDINGS = [("o", "open"), ("q", "quit")]
    opened = 0
    def compose(self):
        yield Static("READY", id="told")
    def action_open(self):
        open_in_editor(self, Call(1, 1, "c", "edit", "Edited", path=sys.argv[1]), session)
        self.opened += 1
        self.query_one(Static).update(f"BACK {self.opened}")

session = Session()
session.runs.append(Run(cwd=os.getcwd()))
with claimed_terminal():
    Opener(HeldSignals(), no_color=False).run()
"""
EDITOR = """
import os, signal, sys
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"INTERRUPTED "))
print("EDITING", *sys.argv[1:], flush=True)
while (line := sys.stdin.readline().strip()) != "done":
    print("GOT", line, flush=True)
print("\\x1b[2J\\x1b[H", end="", flush=True)
sys.exit(int(os.environ.get("EDITOR_CODE", "0")))
"""
NOTHING: Mapping[str, str] = {}
PRODUCER = [sys.executable, "-c", "import time; time.sleep(60)"]


@contextmanager
def opener(
    folder: Path, path: str, environ: Mapping[str, str] = NOTHING, producer: Sequence[str] = ()
) -> Iterator[Terminal]:
    """Run an app that opens `path` on `o`, in a folder that holds a file and an editor."""
    (folder / "a file;.txt").write_text("text")
    (folder / "editor.py").write_text(EDITOR)
    argv = [sys.executable, "-c", APP, path]
    known = {"EDITOR": f"{sys.executable} editor.py '--wait now'", "PYTHONPATH": str(ROOT)} | dict(environ)
    with Terminal(argv, producer=producer, env=known, cwd=folder, size=(200, 20)) as terminal:
        terminal.wait_for("READY")
        yield terminal


def test_the_editor_has_the_terminal(tmp_path: Path) -> None:
    """It gets its options and the file, keys as it wants them, and ctrl+c; then the screen is there again."""
    with opener(tmp_path, "a file;.txt", producer=PRODUCER) as terminal:
        for times in (1, 2):
            terminal.send("o")
            terminal.wait_for(f"EDITING --wait now {tmp_path}/a file;.txt")
            assert not terminal.alt_screen_active
            terminal.send("some\r")
            terminal.wait_for("GOT some")
            terminal.send("\x03")
            terminal.wait_for("INTERRUPTED")
            terminal.send("done\r")
            terminal.wait_for(f"BACK {times}")
            assert terminal.alt_screen_active
        assert terminal.exit_status(0) is None  # ctrl+c was the editor's alone
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()


def test_a_stopped_editor_stops_the_job(tmp_path: Path) -> None:
    """ctrl+z in the editor stops it and us; resumed, the editor has the terminal again."""
    with opener(tmp_path, "a file;.txt") as terminal:
        terminal.send("o")
        terminal.wait_for("EDITING")
        terminal.send("\x1a")
        terminal.wait_stopped()
        terminal.signal(signal.SIGCONT)
        terminal.send("more\r")
        terminal.wait_for("GOT more")
        terminal.send("done\r")
        terminal.wait_for("BACK 1")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()


@pytest.mark.parametrize(
    ("path", "environ", "why"),
    [
        ("gone.txt", {}, "There is no file"),
        ("a file;.txt", {"EDITOR": ""}, "No editor is set"),
        ("a file;.txt", {"EDITOR": "no-such-editor"}, "no-such-editor cannot be started: no such file"),
    ],
)
def test_why_not_is_said(tmp_path: Path, path: str, environ: dict[str, str], why: str) -> None:
    """What stands in the way is said on the screen, which stays as it is and takes keys."""
    with opener(tmp_path, path, environ) as terminal:
        terminal.send("o")
        terminal.wait_for(why)
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()


def test_an_editor_that_fails_is_said(tmp_path: Path) -> None:
    """The exit code of an editor that did not succeed is told."""
    with opener(tmp_path, "a file;.txt", {"EDITOR_CODE": "3"}) as terminal:
        terminal.send("o")
        terminal.wait_for("EDITING")
        terminal.send("done\r")
        terminal.wait_for("ended with exit 3.")


@pytest.mark.parametrize(
    ("environ", "argv"),
    [
        ({"EDITOR": "vi"}, ["vi"]),
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "'my editor' -n; rm $HOME"}, ["my editor", "-n;", "rm", "$HOME"]),
    ],
)
def test_the_users_editor_is_taken(environ: dict[str, str], argv: list[str]) -> None:
    """$VISUAL comes before $EDITOR; each is a list of words, and no shell reads it."""
    assert editor(environ) == argv


def test_an_editor_that_is_no_command_is_said() -> None:
    """None at all, and a quote that is not closed, are told."""
    for none in ({}, {"VISUAL": "", "EDITOR": " "}):
        with pytest.raises(Unopened, match=r"^No editor is set: \$VISUAL and \$EDITOR are empty\.$"):
            editor(none)
    with pytest.raises(Unopened, match=r"^\$VISUAL cannot be read: No closing quotation\.$"):
        editor({"VISUAL": "'vi"})


def why_not(path: str | None, cwd: str | None, run: int = 1) -> str:
    """Return why a file cannot be opened."""
    session = Session()
    session.runs.append(Run(cwd=cwd))
    with pytest.raises(Unopened) as found:
        file_of(Call(1, run, "c", "edit", "Edited", path=path), session)
    message = str(found.value)
    assert message.isprintable()
    return message


def test_only_a_file_that_is_there_is_opened(tmp_path: Path) -> None:
    """A folder, a pipe, a device, a missing file and a name that is none are not opened."""
    os.mkfifo(tmp_path / "pipe")
    here = str(tmp_path)
    assert why_not(".", here).endswith(" is a folder.")
    assert why_not("pipe", here).endswith("/pipe is no regular file.")
    assert why_not("/dev/tty", here) == "/dev/tty is no regular file."
    assert why_not("gone", "/").startswith("There is no file /gone")
    for odd in ("a\0b", "\ud800", "x" * 10_000, "\x1b]0;x\x07"):
        assert why_not(odd, "/").startswith("There is no file ")
        assert len(why_not(odd, "/")) < 90


def test_a_call_without_a_file_is_said() -> None:
    """A call that names no file, and no call at all, are told as that."""
    assert why_not(None, "/") == "The chosen call, edit, names no file."
    with pytest.raises(Unopened, match=r"^No call is chosen\.$"):
        file_of(None, Session())


def test_a_file_is_opened_where_the_run_worked(tmp_path: Path) -> None:
    """A relative path is one of the call's own run; where that is not known, nothing is guessed."""
    (tmp_path / "-rf").write_text("")
    session = Session()
    session.runs += [Run(cwd="/nowhere"), Run(), Run(cwd=str(tmp_path))]
    call = Call(1, 3, "c", "edit", "Edited", path="-rf")
    assert file_of(call, session) == f"{tmp_path}/-rf"
    for run in (0, 2, 4):
        call.run = run
        with pytest.raises(Unopened, match=r"^-rf lies in a folder that the recording does not name\.$"):
            file_of(call, session)
    assert why_not("README.md", "relative").endswith("does not name.")
