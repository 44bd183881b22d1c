"""The file of a call opens in the user's editor, or a message says why it cannot."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.screen.terminal.editor import Unopened, _run_in_foreground, at_line, editor, file_of, line_of
from agentwatch.session.blocks import Block, ChangeBlock, ContentBlock
from agentwatch.session.call import Call
from agentwatch.session.runs import Run
from agentwatch.session.session import Session
from tests.builders.lines import completed, init, started
from tests.conftest import ROOT, case
from tests.harness.program import AGENTWATCH
from tests.harness.terminal import Terminal

APP = """
import os, sys
from textual.widgets import Static
from agentwatch.screen.terminal.editor import open_in_editor
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.session.call import Call
from agentwatch.session.runs import Run
from agentwatch.session.session import Session
from agentwatch.cli.terminal import claimed_terminal
from agentwatch.screen.terminal.signals import PendingSignals

class Opener(TerminalApp[None]):
    BINDINGS = [("o", "open"), ("q", "quit")]
    opened = 0
    def compose(self):
        yield Static("READY", id="status")
    def action_open(self):
        open_in_editor(self, Call(1, 1, "c", "edit", "Edited", path=sys.argv[1]), session)
        self.opened += 1
        self.query_one(Static).update(f"BACK {self.opened}")

session = Session()
session.runs.append(Run(cwd=os.getcwd()))
with claimed_terminal():
    Opener(PendingSignals(), no_color=False).run()
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
SHOWN = b"\x1b[?1049h"
NOTHING: Mapping[str, str] = {}
PRODUCER = [sys.executable, "-c", "import time; time.sleep(60)"]


@contextmanager
def opener(
    folder: Path, path: str, environ: Mapping[str, str] = NOTHING, producer: Sequence[str] = ()
) -> Iterator[Terminal]:
    """Run an app that opens `path` on `o`, in a folder that contains a file and an editor."""
    (folder / "a file;.txt").write_text("text")
    (folder / "editor.py").write_text(EDITOR)
    argv = [sys.executable, "-c", APP, path]
    known = {"EDITOR": f"'{sys.executable}' editor.py '--wait now'", "PYTHONPATH": str(ROOT)} | dict(environ)
    with Terminal(argv, producer=producer, env=known, cwd=folder, size=(200, 20)) as terminal:
        terminal.wait_for("READY")
        yield terminal


@pytest.mark.system
def test_the_editor_has_the_terminal(tmp_path: Path) -> None:
    """The editor gets its options, the file, all keys and ctrl+c; afterwards the screen is restored."""
    with opener(tmp_path, "a file;.txt", producer=PRODUCER) as terminal:
        for times in (1, 2):
            terminal.press("o", f"EDITING --wait now {tmp_path}/a file;.txt")
            assert not terminal.alt_screen_active
            terminal.press("some\r", "GOT some")
            terminal.press("\x03", "INTERRUPTED")
            terminal.press("done\r", f"BACK {times}")
            assert terminal.alt_screen_active
        assert terminal.exit_status(0) is None  # ctrl+c went to the editor only
        terminal.leave()


@pytest.mark.system
def test_a_stopped_editor_stops_the_job(tmp_path: Path) -> None:
    """ctrl+z in the editor stops the whole job; once resumed, the editor has the terminal again."""
    with opener(tmp_path, "a file;.txt") as terminal:
        terminal.press("o", "EDITING")
        terminal.send("\x1a")
        terminal.wait_until(lambda: terminal.job.is_stopped(terminal.pid), what="stop")
        terminal.signal(signal.SIGCONT)
        terminal.press("more\r", "GOT more")
        terminal.press("done\r", "BACK 1")
        terminal.leave()


@pytest.mark.system
def test_why_no_file_was_edited_is_shown(tmp_path: Path) -> None:
    """The reason why the editor cannot be started, or its exit code, is shown, and the app keeps running."""
    # The reason why a file cannot be opened is shown, and the app keeps running.
    why = "no-such-editor cannot be started: no such file"
    with opener(tmp_path, "a file;.txt", {"EDITOR": "no-such-editor"}) as terminal:
        terminal.press("o", why)
        terminal.leave()
    # The exit code of an editor that failed is shown.
    with opener(tmp_path, "a file;.txt", {"EDITOR_CODE": "3"}) as terminal:
        terminal.press("o", "EDITING")
        terminal.press("done\r", "failed: exit 3.")


def test_the_editor_is_that_of_the_environment() -> None:
    """$VISUAL is preferred to $EDITOR and vi; each is split into words, and not passed to a shell."""
    # $VISUAL is preferred to $EDITOR; each is split into words and not passed to a shell.
    for environ, argv in (
        ({"EDITOR": "vi"}, ["vi"]),
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "'my editor' -n; rm $HOME"}, ["my editor", "-n;", "rm", "$HOME"]),
    ):
        with case(f"{environ}, {argv}"):
            assert editor(environ) == argv
    # Without a setting the editor is `vi`, as in git; an error names a setting with an unclosed quote.
    for none in ({}, {"VISUAL": "", "EDITOR": " "}):
        assert editor(none) == ["vi"]
    with pytest.raises(Unopened, match=r"^\$VISUAL is not a valid command: No closing quotation\.$"):
        editor({"VISUAL": "'vi"})


def why_not(path: str | None, cwd: str | None, run: int = 1) -> str:
    """Return the message that says why a file cannot be opened."""
    session = Session()
    session.runs.append(Run(cwd=cwd))
    with pytest.raises(Unopened) as found:
        file_of(Call(1, run, "c", "edit", "Edited", path=path), session)
    message = str(found.value)
    assert message.isprintable()
    return message


def test_only_an_existing_regular_file_is_opened(tmp_path: Path) -> None:
    """Folders, pipes, devices, missing files and invalid names are refused, and a call without a file."""
    # Folders, pipes, devices, missing files and invalid names are not opened.
    os.mkfifo(tmp_path / "pipe")
    here = str(tmp_path)
    assert why_not(".", here).endswith(" is a folder.")
    assert why_not("pipe", here).endswith("/pipe is not a regular file.")
    assert why_not("/dev/tty", here) == "/dev/tty is not a regular file."
    assert why_not("gone", "/").startswith("File not found: /gone")
    for odd in ("a\0b", "\ud800", "x" * 10_000, "\x1b]0;x\x07"):
        assert why_not(odd, "/").startswith("File not found: ")
        assert len(why_not(odd, "/")) < 90
    # A message says that the call names no file, or that no call is selected.
    assert why_not(None, "/") == "The selected call (edit) has no file."
    with pytest.raises(Unopened, match=r"^No call is selected\.$"):
        file_of(None, Session())
    # A relative path is resolved in the cwd of the call's own run; without a known cwd it is refused.
    (tmp_path / "-rf").write_text("")
    session = Session()
    session.runs += [Run(cwd="/nowhere"), Run(), Run(cwd=str(tmp_path))]
    call = Call(1, 3, "c", "edit", "Edited", path="-rf")
    assert file_of(call, session) == f"{tmp_path}/-rf"
    for run in (0, 2, 4):
        call.run = run
        with pytest.raises(
            Unopened, match=r"^-rf is relative, and the recording has no working directory\.$"
        ):
            file_of(call, session)
    assert why_not("README.md", "relative").endswith("has no working directory.")


@pytest.mark.system
def test_the_editor_beside_a_started_agent(tmp_path: Path) -> None:
    """Under `run`, where ended processes are reaped all the time, the editor's own exit code is shown."""
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "r.ndjson").write_bytes(
        init(cwd=str(tmp_path)) + started("read", "c", path="a.txt") + completed("read", "c", {"success": {}})
    )
    script = "import os, time; os.write(1, open('r.ndjson', 'rb').read()); time.sleep(60)"
    agent = [sys.executable, "-c", script]
    argv = [*AGENTWATCH, "run", "--no-record", "--", *agent]
    env = {"PYTHONPATH": str(ROOT), "EDITOR": "sh -c 'echo EDITED; exit 3'"}
    with Terminal(argv, env=env, cwd=tmp_path, size=(120, 40)) as terminal:
        terminal.wait_for("Read file a.txt")
        terminal.send("2")
        for times in (1, 2, 3):
            terminal.send("o")
            terminal.wait_until(lambda n=times: terminal.raw.count(b"EDITED") == n, what="editor")  # type: ignore[misc]
            terminal.wait_until(lambda n=times: terminal.raw.count(SHOWN) == n + 1, what="screen")  # type: ignore[misc]
        assert b"cannot be started" not in terminal.raw
        terminal.wait_for("sh failed: exit 3")


def test_an_editor_that_another_thread_has_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor whose exit code is lost, because another thread has reaped it, counts as ended well."""

    def gone(_pid: int, _options: int) -> None:
        raise ChildProcessError

    monkeypatch.setattr(os, "waitpid", gone)
    assert _run_in_foreground(["true"]) == 0


def test_a_file_opens_at_its_line() -> None:
    """An editor gets the line of a call in its own form; one that is not known opens the start."""
    # An editor gets the line in its own form; one that is not known opens the file at its start.
    for argv, expected in (
        (["vi"], ["vi", "+12", "/a.py"]),
        (["/usr/bin/nvim", "-p"], ["/usr/bin/nvim", "-p", "+12", "/a.py"]),
        (["code", "--wait"], ["code", "--wait", "--goto", "/a.py:12"]),
        (["hx"], ["hx", "/a.py:12"]),
        (["ed"], ["ed", "/a.py"]),
    ):
        with case(f"{argv}, {expected}"):
            assert at_line(argv, "/a.py", 12) == expected
            assert at_line(argv, "/a.py", None) == [*argv, "/a.py"]
    # A diff gives its first changed line in the new file, a read the first line that it returned.
    diff = "--- a\n+++ b\n@@ -8,4 +9,5 @@\n same\n same\n-old\n+new\n"
    assert line_of([ChangeBlock(diff)]) == 11
    assert line_of([ContentBlock("text", first_line=40)]) == 40
    unknown: list[list[Block]] = [
        [],
        [ContentBlock("text")],
        [ChangeBlock(None)],
        [ChangeBlock("no hunk\n+a")],
    ]
    for blocks in unknown:
        assert line_of(blocks) is None
