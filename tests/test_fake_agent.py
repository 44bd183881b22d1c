"""The test equipment does what the tests that rest on it take for granted."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fake_agent import command
from tests.terminal import Terminal

INIT = b'{"type":"system","subtype":"init","session_id":"s-1"}\n'
TEXT = b'{"type":"assistant","text":"caf\xc3\xa9 \\r","session_id":"s-1"}\r\n'
RESULT = b'{"type":"result","subtype":"success","session_id":"s-1"}\n'
RECORDING = INIT + TEXT + RESULT

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


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of three lines on disk, one of them with a carriage return."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(RECORDING)
    return path


def play(recording: Path, *switches: str) -> subprocess.CompletedProcess[bytes]:
    """Run the fake agent to its end."""
    argv = command(recording, *switches)
    return subprocess.run(argv, capture_output=True, timeout=10, check=False)


def writes(recording: Path, *switches: str) -> list[bytes]:
    """Run the fake agent with a datagram socket as stdout, which keeps its writes apart."""
    ours, stdout = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    argv = command(recording, *switches)
    with ours, stdout:
        subprocess.run(argv, stdout=stdout.fileno(), timeout=10, check=True)
        got = []
        while select.select([ours], [], [], 0)[0]:
            got.append(ours.recv(1 << 16))
        return got


def wait_for_report(path: Path) -> dict[str, int]:
    """Wait until the agent has written its report, and read it."""
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline, "no report"
        time.sleep(0.01)
    facts: dict[str, int] = json.loads(path.read_bytes())
    return facts


def test_plays_the_bytes_as_they_are(recording: Path) -> None:
    """Without switches the agent writes the recording, unchanged, and exits with 0."""
    done = play(recording)
    assert (done.returncode, done.stdout, done.stderr) == (0, RECORDING, b"")


def test_pace_is_one_write_for_each_line(recording: Path) -> None:
    """A paced agent writes line by line, the first at once, and keeps its pace."""
    begun = time.monotonic()
    assert writes(recording, "--pace", "10") == [INIT, TEXT, RESULT]
    assert time.monotonic() - begun >= 2 / 10


def test_times_plays_the_reads_of_the_sidecar(recording: Path) -> None:
    """With --times the writes are the recorded reads, in the recorded time divided by --speed."""
    recording.with_suffix(".times").write_text("0 1000\n5 5000\n# no read\n9 13000\n")
    begun = time.monotonic()
    reads = [RECORDING[:5], RECORDING[5:9], RECORDING[9:]]
    assert writes(recording, "--times", "--speed", "40") == reads
    assert time.monotonic() - begun >= 12 / 40


def test_exit_code_and_stderr(recording: Path) -> None:
    """The exit code and the lines on stderr are those of the switches."""
    done = play(recording, "--exit", "3", "--stderr", "first", "--stderr", "second")
    assert (done.returncode, done.stdout, done.stderr) == (3, RECORDING, b"first\nsecond\n")


def test_stderr_forever_is_more_than_a_pipe_holds(recording: Path) -> None:
    """A noisy agent writes over 64 KiB to stderr before its first line, and more as it waits."""
    quick = play(recording, "--stderr-forever")
    slow = play(recording, "--stderr-forever", "--pace", "20")
    assert quick.stdout == slow.stdout == RECORDING
    assert 1 << 16 < len(quick.stderr) < len(slow.stderr)


def test_burst_is_exact_and_valid(recording: Path) -> None:
    """A burst is so many bytes of numbered assistant lines of the recording's session."""
    done = play(recording, "--burst", "200003")
    burst = done.stdout.removeprefix(RECORDING)
    events = [json.loads(line) for line in burst.splitlines()]
    assert len(burst) == 200003
    assert {(event["type"], event["session_id"]) for event in events} == {("assistant", "s-1")}
    texts = [event["message"]["content"][0]["text"] for event in events]
    assert [int(text.split()[0]) for text in texts] == list(range(200))


@pytest.mark.parametrize("pace", ["0", "1000"])
def test_cut_ends_in_the_middle_of_a_line(recording: Path, pace: str) -> None:
    """A cut agent writes the first bytes only."""
    cut = len(INIT) + 7
    assert play(recording, "--cut", str(cut), "--pace", pace).stdout == RECORDING[:cut]


def test_hang_ends_by_a_signal_only(recording: Path, tmp_path: Path) -> None:
    """A hanging agent has reported all that it wrote, and TERM ends it by that signal."""
    report = tmp_path / "report"
    argv = command(recording, "--hang", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as agent:
        facts = wait_for_report(report)
        assert agent.poll() is None
        agent.terminate()
        assert agent.communicate(timeout=10)[0] == RECORDING
    assert agent.returncode == -signal.SIGTERM
    assert (facts["lines"], facts["bytes"]) == (3, len(RECORDING))


def test_hang_before_result_holds_the_result_back(recording: Path, tmp_path: Path) -> None:
    """The agent plays up to the result line, and that one never comes."""
    report = tmp_path / "report"
    argv = command(recording, "--hang-before-result", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as agent:
        wait_for_report(report)
        agent.terminate()
        assert agent.communicate(timeout=10)[0] == INIT + TEXT


def test_ignore_term_leaves_other_signals(recording: Path, tmp_path: Path) -> None:
    """An agent that ignores TERM is still there for INT."""
    report = tmp_path / "report"
    argv = command(recording, "--hang", "--ignore-term", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as agent:
        wait_for_report(report)
        agent.terminate()
        agent.send_signal(signal.SIGINT)
        assert agent.wait(10) == -signal.SIGINT


@pytest.mark.parametrize("switch", ["--fork", "--setsid"])
def test_child_holds_stdout_open(recording: Path, tmp_path: Path, switch: str) -> None:
    """The agent ends, and its child, in its group or in a session of its own, holds stdout."""
    report = tmp_path / "report"
    argv = command(recording, switch, "60", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as agent:
        assert agent.wait(10) == 0
        assert agent.stdout
        assert os.read(agent.stdout.fileno(), 1 << 16) == RECORDING
        assert not select.select([agent.stdout], [], [], 0)[0]
        [child] = json.loads(report.read_bytes())["children"]
        assert os.getpgid(child) == (agent.pid if switch == "--fork" else child)
        os.kill(child, signal.SIGKILL)
        assert agent.stdout.read() == b""


@pytest.mark.parametrize("name", ["KILL", "SIGTERM", "11"])
def test_die_is_by_the_signal(recording: Path, name: str) -> None:
    """The agent plays to the end, then the signal ends it."""
    done = play(recording, "--die", name)
    assert done.stdout == RECORDING
    assert -done.returncode in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)


def test_repeat_and_report(recording: Path, tmp_path: Path) -> None:
    """The report counts lines and bytes, and knows the slowest write."""
    report = tmp_path / "report"
    assert play(recording, "--repeat", "50", "--report", str(report)).stdout == RECORDING * 50
    facts = wait_for_report(report)
    assert (facts["lines"], facts["bytes"]) == (150, 50 * len(RECORDING))
    assert facts["worst_write_ms"] > 0


def test_reader_that_goes_away_ends_the_agent(recording: Path) -> None:
    """When nobody reads its stdout any more, the agent exits with 1 and says nothing."""
    argv = command(recording, "--repeat", "100000")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as agent:
        assert agent.stdout
        assert agent.stderr
        agent.stdout.read(1)
        agent.stdout.close()
        assert agent.stderr.read() == b""
    assert agent.returncode == 1


def test_terminal_drives_a_textual_app(tmp_path: Path) -> None:
    """Keys reach the app, its screen is read, a resize arrives, and it leaves no trace."""
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


def test_terminal_sees_what_is_left_behind() -> None:
    """Modes left on and settings left changed are named, and the terminal is not restored."""
    script = r"stty -echo; printf '\033[?1049h\033[?1000;1006hx\033[?1006l\033[?25l'"
    with Terminal(["sh", "-c", script]) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.alt_screen_active
        assert terminal.leftovers() == ["?1049h", "?1000h", "?25l", "tty"]
        assert not terminal.restored()


def test_terminal_has_an_alternate_screen() -> None:
    """Leaving the alternate screen brings back the text, and the place, from before."""
    script = r"printf 'one\033[?1049h\033[2;2Htwo'; read x; printf '\033[?1049l three'"
    with Terminal(["sh", "-c", script]) as terminal:
        terminal.wait_for("two")
        assert "one" not in terminal.screen_text()
        terminal.send("\n")
        terminal.wait_for("one three")
        assert "two" not in terminal.screen_text()


@pytest.mark.parametrize(
    "sequence",
    [
        r"\033[<u",
        r"\033[>4;1m",
        r"\033[?2026$p",
        r"\033[?6n",
        r"\033[1;2;3;4A",
        r"\033[9K",
        r"\033Pq payload\033\\",
        r"\033_Gi=1;AAAA\033\\",
        r"\033]22;pointer\007",
        r"\033]52;c;AAAA\033\\",
        "\ufe0f",
        "\u200d",
    ],
)
def test_terminal_passes_over_what_pyte_misreads(sequence: str) -> None:
    """A sequence that shows nothing leaves the text, its colours and the title as they were."""
    script = rf"printf 'a{sequence}bc\n'"
    with Terminal(["sh", "-c", script], size=(20, 3)) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.screen_text() == "abc\n\n"
        assert not terminal.screen.buffer[0][1].underscore
        assert terminal.screen.title == ""


def test_terminal_reads_a_sequence_that_comes_in_parts() -> None:
    """A sequence cut by the reads is one sequence all the same."""
    script = r"stty -echo; printf 'a\033['; read x; printf '<u'; read x; printf '\303'; read x; "
    with Terminal(["sh", "-c", script + r"printf '\251 end'"]) as terminal:
        terminal.wait_for("a")
        for _ in range(3):
            terminal.send("\n")
            assert terminal.line(0).startswith("a")
        terminal.wait_for("aé end")


def test_pipeline_has_the_pty_as_its_controlling_terminal(recording: Path, tmp_path: Path) -> None:
    """In `producer | program | consumer` the program talks with /dev/tty, and bytes pass."""
    script = "cat; printf 'name? ' >/dev/tty; read x </dev/tty; echo hello $x >/dev/tty; exit 7"
    passed = tmp_path / "passed"
    consumer = ["sh", "-c", f"cat >{passed}; exit 2"]
    with Terminal.pipeline(command(recording), ["sh", "-c", script], consumer) as terminal:
        terminal.wait_for("name?")
        terminal.send("you\n")
        terminal.wait_for("hello you")
        assert [terminal.wait_exit(stage=stage) for stage in range(3)] == [0, 7, 2]
    assert passed.read_bytes() == RECORDING


def test_program_ends_before_its_producer(recording: Path) -> None:
    """A stage's end is known while the others live, and the terminal's end ends them all."""
    with Terminal.pipeline(command(recording, "--hang"), ["head", "-n1"]) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.screen_text().startswith(INIT.decode().strip())
        assert terminal.exit_status(stage=0) is None
        producer = terminal.pids[0]
    with pytest.raises(ProcessLookupError):
        os.kill(producer, 0)


def test_ctrl_z_stops_the_job() -> None:
    """The keys for stop, interrupt and end of file do to a job what they do under a shell."""
    with Terminal(["cat"]) as terminal:
        terminal.send("one\n")
        terminal.wait_for("one\none")
        terminal.send("\x1a")
        terminal.wait_stopped()
        terminal.signal(signal.SIGCONT)
        terminal.send("two\n")
        terminal.wait_for("two\ntwo")
        assert terminal.exit_status() is None
        terminal.send("\x03")
        assert terminal.wait_exit() == 128 + signal.SIGINT


def test_hang_up_sends_sighup() -> None:
    """When the terminal is closed, the program gets SIGHUP, and its exit is still known."""
    script = "import signal, sys; signal.signal(1, lambda *_: sys.exit(3)); print('ready'); "
    with Terminal([sys.executable, "-Sc", script + "signal.pause()"]) as terminal:
        terminal.wait_for("ready")
        terminal.hang_up()
        assert terminal.wait_exit() == 3


def test_leftover_children_live_until_the_close(recording: Path, tmp_path: Path) -> None:
    """Children outlive their program, and none of them, in whatever session, the terminal."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    agent = " ".join(command(recording, "--fork", "60", "--setsid", "60"))
    with Terminal(["sh", "-c", f"exec {agent} >{fifo}"]) as terminal:
        assert terminal.wait_exit() == 0
        assert os.read(reader, 1 << 16) == RECORDING
        assert not select.select([reader], [], [], 0)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_paused_terminal_reads_nothing(tmp_path: Path) -> None:
    """While reading is paused no byte is taken, and a program with much to say has to wait."""
    begun, done = tmp_path / "begun", tmp_path / "done"
    script = f"read x; : >{begun}; head -c 200000 /dev/zero | tr '\\0' x; : >{done}; echo over"
    with Terminal(["sh", "-c", script]) as terminal:
        terminal.pause_reading()
        terminal.send("\n")
        terminal.wait_until(begun.exists)
        assert (terminal.raw, done.exists()) == (b"", False)
        terminal.resume_reading()
        terminal.wait_for("over")
        assert terminal.raw.count(b"x") == 200_000


def test_environment_is_small_and_sane(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would change a screen is not inherited; what the test asks for is there."""
    for name in ("NO_COLOR", "CI", "COLUMNS", "TEXTUAL_DRIVER", "TMUX"):
        monkeypatch.setenv(name, "1")
    with Terminal(["env"], env={"ASKED": "yes"}) as terminal:
        assert terminal.wait_exit() == 0
        text = terminal.screen_text()
    assert not re.search("NO_COLOR|CI=|COLUMNS|TEXTUAL|TMUX", text)
    for line in ("TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "ASKED=yes"):
        assert line in text


def test_a_wait_in_vain_shows_the_screen() -> None:
    """A text that does not come fails with the screen; at once, if the program has ended."""
    with Terminal(["sh", "-c", "echo something else; kill -9 $$"]) as terminal:
        assert terminal.wait_exit() == 128 + signal.SIGKILL
        with pytest.raises(AssertionError, match=r"(?s)ended.*something else"):
            terminal.wait_for("something new", timeout=60)
    with Terminal(["cat"]) as terminal, pytest.raises(AssertionError, match=r"in 0\.1 s"):
        terminal.wait_for("anything", timeout=0.1)


def test_program_that_is_not_there() -> None:
    """A command that cannot be started exits with 127 and says so on the screen."""
    with Terminal(["no-such-program"]) as terminal:
        assert terminal.wait_exit() == 127
        terminal.wait_for("no-such-program: No such file or directory")
