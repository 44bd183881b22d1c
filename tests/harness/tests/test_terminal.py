"""The terminal of the tests behaves as they assume."""

import os
import random
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest
from wcwidth import wcwidth

from tests.conftest import case
from tests.harness.fake_agent import command
from tests.harness.processes import is_ready
from tests.harness.pyte_screen import NARROW, Screen, Stream
from tests.harness.terminal import Terminal
from tests.harness.tests.conftest import INIT, RECORDING

APP = """
from textual.app import App, ComposeResult
from textual.events import Key, Resize
from textual.widgets import Label

class Probe(App[None]):
    def compose(self) -> ComposeResult:
        yield Label("ready", id="size")
        yield Label("", id="key")

    def on_resize(self, event: Resize) -> None:
        self.query_one("#size", Label).update(f"{event.size.width} by {event.size.height}")

    def on_key(self, event: Key) -> None:
        self.query_one("#key", Label).update(f"key {event.key}")
        if event.key == "q":
            self.exit(return_code=5)

probe = Probe()
probe.run()
print("left")
raise SystemExit(probe.return_code)
"""


@pytest.mark.system
def test_terminal_drives_a_textual_app(tmp_path: Path) -> None:
    """Keys reach the app, its screen can be read, a resize arrives, and the terminal is restored."""
    app = tmp_path / "app.py"
    app.write_text(APP)
    with Terminal([sys.executable, str(app)], size=(60, 10)) as terminal:
        terminal.wait_for("60 by 10")
        terminal.send("x")
        terminal.wait_for(re.compile(r"^key x$", re.MULTILINE))
        assert terminal.alt_screen_active
        taken = {"?1049h", "?1003h", "?25l", "?2004h", "kitty keys", "tty"}
        assert taken <= set(terminal.leftovers())
        terminal.resize(70, 12)
        terminal.wait_for("70 by 12")
        assert len(terminal.screen_text().split("\n")) == 12
        terminal.send("q")
        assert terminal.wait_exit() == 5
        assert terminal.leftovers() == []
        assert terminal.restored()
        assert terminal.screen_text().strip() == terminal.line(0) == "left"


MISREAD = (
    *(
        "\033[<u",
        "\033[>4;1m",
        "\033[?2026$p",
        "\033[?6n",
        "\033[1;2;3;4A",
        "\033[9K",
        "\033Pq payload\033\\",
    ),
    *("\033_Gi=1;AAAA\033\\", "\033]22;pointer\007", "\033]52;c;AAAA\033\\", "\ufe0f", "\u200d"),
)


def test_terminal_ignores_what_pyte_misreads() -> None:
    """A sequence without visible effect leaves the text, its colours and the title unchanged."""
    for sequence in MISREAD:
        with case(repr(sequence)):
            screen = Screen(20, 3)
            Stream(screen).take(f"a{sequence}bc\r\n".encode())
            rows = ["".join(screen.buffer[y][x].data for x in range(20)).rstrip() for y in range(3)]
            assert rows == ["abc", "", ""]
            assert not screen.buffer[0][1].underscore
            assert screen.title == ""


@pytest.mark.slow
def test_what_a_program_writes_is_read() -> None:
    """Modes left on and changed tty settings are listed, and the terminal is not restored.

    Leaving the alternate screen restores the text and the cursor position. A sequence split over several
    reads is read as one.
    """
    script = r"stty -echo; printf '\033[?1049h\033[?1000;1006hx\033[?1006l\033[?25l'"
    with Terminal(["sh", "-c", script]) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.alt_screen_active
        assert terminal.leftovers() == ["?1049h", "?1000h", "?25l", "tty"]
        assert not terminal.restored()
    script = r"printf 'one\033[?1049h\033[2;2Htwo'; read x; printf '\033[?1049l three'"
    with Terminal(["sh", "-c", script]) as terminal:
        terminal.wait_for("two")
        assert "one" not in terminal.screen_text()
        terminal.press("\n", "one three")
        assert "two" not in terminal.screen_text()
    script = r"stty -echo; printf 'a\033['; read x; printf '<u'; read x; printf '\303'; read x; "
    with Terminal(["sh", "-c", script + r"printf '\251 end'"]) as terminal:
        terminal.wait_for("a")
        for _ in range(3):
            terminal.send("\n")
            assert terminal.line(0).startswith("a")
        terminal.wait_for("aé end")


@pytest.mark.slow
def test_pipeline_has_the_pty_as_its_controlling_terminal(recording: Path, tmp_path: Path) -> None:
    """In `producer | program | consumer` the program can use /dev/tty, and bytes pass through."""
    script = "cat; printf 'name? ' >/dev/tty; read x </dev/tty; echo hello $x >/dev/tty; exit 7"
    passed = tmp_path / "passed"
    consumer = ["sh", "-c", f"cat >'{passed}'; exit 2"]
    with Terminal(["sh", "-c", script], producer=command(recording), consumer=consumer) as terminal:
        terminal.wait_for("name?")
        terminal.send("you\n")
        terminal.wait_for("hello you")
        assert [terminal.wait_exit(stage=stage) for stage in range(3)] == [0, 7, 2]
    assert passed.read_bytes() == RECORDING


@pytest.mark.slow
def test_program_ends_before_its_producer(recording: Path) -> None:
    """The end of a stage is reported while other stages live; closing the terminal kills them all."""
    with Terminal(["head", "-n1"], producer=command(recording, "--hang")) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.screen_text().startswith(INIT.decode().strip())
        assert terminal.exit_status(stage=0) is None
        producer = terminal.pids[0]
    with pytest.raises(ProcessLookupError):
        os.kill(producer, 0)


@pytest.mark.slow
def test_ctrl_z_stops_the_job() -> None:
    """The keys for stop, interrupt and end of file affect a job as they do under a shell."""
    with Terminal(["cat"]) as terminal:
        terminal.send("one\n")
        terminal.wait_for("one\none")
        terminal.send("\x1a")
        terminal.wait_until(lambda: terminal.job.is_stopped(terminal.pid), what="stop")
        terminal.signal(signal.SIGCONT)
        terminal.send("two\n")
        terminal.wait_for("two\ntwo")
        assert terminal.exit_status() is None
        terminal.send("\x03")
        assert terminal.wait_exit() == 128 + signal.SIGINT


@pytest.mark.slow
def test_hang_up_sends_sighup() -> None:
    """When the terminal is closed, the program receives SIGHUP, and its exit code is still reported."""
    script = "import signal, sys; signal.signal(1, lambda *_: sys.exit(3)); print('ready'); "
    with Terminal([sys.executable, "-Sc", script + "signal.pause()"]) as terminal:
        terminal.wait_for("ready")
        terminal.hang_up()
        assert terminal.wait_exit() == 3


@pytest.mark.slow
def test_leftover_children_live_until_the_close(recording: Path, tmp_path: Path) -> None:
    """Children outlive their program, and are killed with the terminal, whatever their session."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    agent = shlex.join(command(recording, "--fork", "60", "--setsid", "60"))
    with Terminal(["sh", "-c", f"exec {agent} >'{fifo}'"]) as terminal:
        assert terminal.wait_exit() == 0
        assert os.read(reader, 1 << 16) == RECORDING
        assert not is_ready(reader)
    assert is_ready(reader, 10)
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.system
def test_paused_terminal_reads_nothing(tmp_path: Path) -> None:
    """While reading is paused no byte is read, and a program that writes much blocks."""
    begun, done = tmp_path / "begun", tmp_path / "done"
    script = f"read x; : >'{begun}'; head -c 200000 /dev/zero | tr '\\0' x; : >'{done}'; echo over"
    with Terminal(["sh", "-c", script]) as terminal:
        terminal.reader.pause()
        terminal.send("\n")
        terminal.wait_until(begun.exists)
        assert (terminal.raw, done.exists()) == (b"", False)
        terminal.reader.resume()
        terminal.wait_for("over")
        assert terminal.raw.count(b"x") == 200_000


@pytest.mark.slow
def test_environment_is_small_and_sane(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that change a screen are not inherited; variables given by the test are set."""
    for name in ("NO_COLOR", "CI", "COLUMNS", "TEXTUAL_DRIVER", "TMUX"):
        monkeypatch.setenv(name, "1")
    with Terminal(["env"], env={"ASKED": "yes"}) as terminal:
        assert terminal.wait_exit() == 0
        text = terminal.screen_text()
    assert not re.search("NO_COLOR|CI=|COLUMNS|TEXTUAL|TMUX", text)
    for line in ("TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "ASKED=yes"):
        assert line in text


@pytest.mark.slow
def test_a_failed_wait_shows_the_screen() -> None:
    """Waiting for a text that does not appear fails with the screen, at once if the program has ended.

    A command that cannot be started exits with 127 and is reported on the screen.
    """
    with Terminal(["sh", "-c", "echo something else; kill -9 $$"]) as terminal:
        assert terminal.wait_exit() == 128 + signal.SIGKILL
        with pytest.raises(AssertionError, match=r"(?s)ended.*something else"):
            terminal.wait_for("something new", timeout=60)
    with Terminal(["cat"]) as terminal, pytest.raises(AssertionError, match=r"within 0\.1 s"):
        terminal.wait_for("anything", timeout=0.1)
    with Terminal(["no-such-program"]) as terminal:
        assert terminal.wait_exit() == 127
        terminal.wait_for("no-such-program: No such file or directory")


def test_text_is_drawn_as_pyte_draws_it() -> None:
    """Text of one column per character, drawn in one go, leaves the cells that pyte's own drawing leaves."""
    chance = random.Random(7)
    alphabets = ("abc XYZ~", "abc │╭─·…✓", "ab│漢é\u0301🙂")
    sequences = ("", "\x1b[1;31m", "\x1b[0m", "\r\n", "\x1b[4h", "\x1b[4l", "\x1b[3;9H", "\x0e", "\x0f")
    written = "".join(
        "".join(chance.choices(chance.choice(alphabets), k=chance.randrange(1, 9))) + chance.choice(sequences)
        for _ in range(600)
    )
    ours, plain = Screen(20, 6), Screen(20, 6)
    plain._draws_plainly = lambda data: False  # type: ignore[method-assign] # pyte's own drawing
    for screen in (ours, plain):
        Stream(screen).take(written.encode())
    assert ours.buffer == plain.buffer
    assert (ours.cursor.x, ours.cursor.y) == (plain.cursor.x, plain.cursor.y)
    assert {cell.data for row in ours.buffer.values() for cell in row.values()} > {"a", "│", "漢"}
    assert all(wcwidth(char) == 1 for char in map(chr, range(32, 0x3000)) if NARROW.fullmatch(char))
