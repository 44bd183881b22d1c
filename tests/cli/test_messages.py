"""Names and paths cannot act on a terminal or on a CI runner, in whatever message they occur. Progress is
shown on a terminal only, and only of what takes over a second."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.cli import messages
from agentwatch.cli.messages import ShownProgress
from agentwatch.output.export.exported import Wanted, exported
from agentwatch.recording.saved import open_saved
from tests.builders.lines import completed, init, result, user
from tests.conftest import RECORDINGS, case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import in_terminal
from tests.harness.program import AGENTWATCH, PLAIN, environment, ran, watch
from tests.harness.terminal_oracle import acting, taken_apart

NAMES = {
    "an escape sequence": "\x1b[2J\x1b]0;taken\x07",
    "a forged line": "a\n::error::forged\nagentwatch: all is well",
    "a carriage return": "a\r##[error]forged",
    "C1 controls": "\x9b2J\x9d0;taken\x9c",
    "bidi and hidden characters": "a\u202eb\u2066c\u200bd\U000e0041",
    "bytes that are not UTF-8": "\udcff\udc9b31m",
}
FAULTS: dict[str, list[str]] = {
    "an input": ["-p", "{}"],
    "an input of replay": ["replay", "{}", "-p"],
    "an input of log": ["-p", "--times", "{}"],
    "an input of drift": ["doctor", "{}"],
    "an option": ["--{}"],
    "an option of run": ["run", "--{}"],
    "a choice": ["--output-format", "{}", "x"],
    "a number": ["replay", "--speed", "{}", "x"],
    "an argument": ["-p", "--times", "x", "{}"],
    "a recording": ["run", "-p", "--record", "{}/none/r", "--", "true"],
    "a log": ["-p", "--log", "{}/none/r", str(PLAIN)],
    "a recording of a recording": ["-p", "--record", "{}", str(PLAIN)],
    "a command": ["run", "-p", "--", "{}"],
}


def check(done: subprocess.CompletedProcess[bytes], *, lines: int | None = None) -> str:
    """Check that nothing acts in what was printed; return what was printed on stderr."""
    said = done.stderr.decode()
    for text in (said, done.stdout.decode()):
        assert acting(text) == []
        assert "##" not in text
        assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert all(line.startswith("agentwatch: ") for line in said.splitlines()), said
    assert lines is None or said.count("\n") == lines, said
    return said


@pytest.mark.system
def test_a_name_cannot_act_in_a_fault_or_a_list(tmp_path: Path) -> None:
    """Each fault of each command is one line of visible characters, whatever the names in it."""
    for kind, name in NAMES.items():
        for fault, arguments in FAULTS.items():
            with case(f"{kind} in {fault}"):
                given = [each.replace("{}", name) for each in arguments]
                done = ran(*given, cwd=tmp_path, GITHUB_ACTIONS="true")
                assert done.returncode
                check(done, lines=1)
    # The sessions of a folder with such a name are one line each, and its faults one line.
    for kind, name in NAMES.items():
        with case(kind):
            folder = tmp_path / name / "sessions"
            folder.mkdir(parents=True)
            (folder / "20261120-140307-123abc.ndjson").write_bytes(PLAIN.read_bytes())
            done = ran("sessions", "--all", cwd=tmp_path, AGENTWATCH_HOME=name, GITHUB_ACTIONS="true")
            assert done.returncode == 0
            check(done, lines=1)
            (tmp_path / name / "file").touch()
            for arguments in (["sessions"], ["run", "-p", "--", "true"]):
                home = str(tmp_path / name / "file")
                done = ran(*arguments, cwd=tmp_path, AGENTWATCH_HOME=home, GITHUB_ACTIONS="true")
                assert done.returncode
                assert "it is a file, not a folder" in check(done, lines=1)


def test_a_name_cannot_act_in_a_crash_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error is one line, whatever the path of the traceback and the words of the error."""
    for kind, name in NAMES.items():
        with case(kind):

            def fault(*_given: object, words: str = name) -> None:
                raise RuntimeError(words)

            monkeypatch.setattr("agentwatch.output.summary.summary", fault)
            (tmp_path / name).mkdir()
            done = ran(
                *("-p", "--output-format", "summary", "--record", f"{name}/r.ndjson"),
                cwd=tmp_path,
                stdin=PLAIN.read_bytes(),
                GITHUB_ACTIONS="true",
            )
            assert done.returncode == 70
            assert "internal error: RuntimeError(" in check(done, lines=1)
            assert (tmp_path / name / "r.crash").exists()


@pytest.mark.system
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_an_agent_cannot_act_in_its_last_words(name: str) -> None:
    """The last lines of an agent's stderr, the last as the reason, are printed in visible characters."""
    agent = f"import sys; sys.stderr.buffer.write({os.fsencode(name)!r}); sys.exit(4)"
    done = watch("run", "-p", "--", sys.executable, "-c", agent, GITHUB_ACTIONS="true")
    assert done.returncode == 4
    lines = check(done).splitlines()
    assert re.match(r"agentwatch: the agent wrote nothing, exit 4: \S", lines[-1])
    assert all(line.startswith("agentwatch: the agent's stderr: ") for line in lines[:-1])


@pytest.mark.slow
def test_a_running_name_cannot_act(tmp_path: Path) -> None:
    """A process that the agent has left running is named in one line of visible characters."""
    program = tmp_path / "\x1b[2Ja\n::b"
    program.symlink_to(shutil.which("sleep") or "")
    left = "import subprocess, sys; subprocess.Popen([sys.argv[1], '60']); sys.exit(3)"
    done = watch("run", "-p", "--", sys.executable, "-c", left, str(program), GITHUB_ACTIONS="true")
    said = check(done)
    [pid] = re.findall(r"process (\d+) \(␛\[2Ja␊::b\), started by the agent, is still running", said)
    os.kill(int(pid), signal.SIGKILL)
    # The message that a followed file was truncated is one line of visible characters.
    path = tmp_path / NAMES["a forged line"]
    path.write_bytes(PLAIN.read_bytes())
    argv = [*AGENTWATCH, "-p", "-f", str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as child:
        assert child.stdout
        assert child.stdout.readline().startswith(b"Read file")
        path.write_bytes(PLAIN.read_bytes()[:300])
        assert child.stderr
        said = child.stderr.readline().decode()
        child.terminate()
    assert acting(said) == []
    assert said.endswith("was truncated: starting over\n")


@pytest.mark.system
def test_a_name_cannot_act_after_the_screen(tmp_path: Path) -> None:
    """After the screen, the line with the path of the recording is safe too."""
    path = tmp_path / NAMES["an escape sequence"]
    with in_terminal("run", "--record", str(path), "--", *command(PLAIN)) as terminal:
        terminal.wait_for("✓ succeeded in 8.7 s")
        terminal.press("q", re.compile("recorded in .*␛", re.DOTALL))
        assert terminal.wait_exit() == 0
        assert terminal.restored(), terminal.leftovers()
        assert acting(taken_apart(terminal.raw).text.decode().replace("\r\n", "\n")) == []
        assert b"taken\x07" not in terminal.raw


@pytest.mark.slow
def test_help_is_whole_and_its_reader_may_leave(tmp_path: Path) -> None:
    """At 80 columns, each command has its whole first sentence in `--help`."""
    for words in ((), ("engine",)):
        help_text = ran(*words, "--help").stdout.decode()
        commands = help_text.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
        assert commands
        for line in commands:
            with case(line):
                assert line.endswith(".")
                assert not line.endswith("...")
    # Help whose reader has gone ends as with other programs, without a message.
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*AGENTWATCH, "--help"], stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
    # Without a stderr, a message is not printed at all; it never gets among the printed lines.
    argv = ["sh", "-c", 'exec "$@" 2>&-', "sh", *AGENTWATCH, "-p", str(tmp_path / "none")]
    done = subprocess.run(argv, stdout=subprocess.PIPE, env=environment(), check=False)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"], ["sessions", "-h"]])
def test_help_that_cannot_be_printed(arguments: list[str], home: Path) -> None:
    """Help and version on a full disk are reported in one line with 74, and leave no traceback."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*AGENTWATCH, *arguments], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert done.returncode == 74
    assert done.stderr == b"agentwatch: cannot print: No space left on device\n"
    assert not home.exists()


@pytest.mark.system
def test_too_few_descriptors_are_one_line(tmp_path: Path) -> None:
    """With too few file descriptors for a pipe, the program says so in one line, wherever it lacks one."""
    said = set()
    for most in range(5, 12):

        def limit(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        paths = [f"{tmp_path}/{most}.ndjson", f"{tmp_path}/{most}.log"]
        run = subprocess.run(
            [*AGENTWATCH, "--print", "--record", paths[0], "--log", paths[1]],
            input=b"",
            capture_output=True,
            env=environment(),
            check=False,
            preexec_fn=limit,
        )
        [line] = run.stderr.splitlines()
        said.add((run.returncode, b"too many open files" in line))
    assert (73, True) in said
    assert said <= {(73, True), (70, True), (1, False)}


RUNNERS = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI"]
COMMAND = "##[error]a\n::set-env name=x::y ##vso[task] ##teamcity[z]"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording in which every string contains workflow commands."""
    shell = completed("shell", "c", {"failure": {"exitCode": 1}}, command=COMMAND)
    odd = completed(f"::{COMMAND}", "d", {"error": {"error": COMMAND}}, path=COMMAND)
    path = tmp_path / "case.ndjson"
    path.write_bytes(init(model=COMMAND, cwd=COMMAND) + user(COMMAND) + shell + odd + result(COMMAND))
    return path


def printed(*arguments: str | Path, **env: str) -> str:
    """Return everything that agentwatch prints, stdout followed by stderr."""
    done = ran(*arguments, **env)  # type: ignore[arg-type]
    return (done.stdout + done.stderr).decode()


def test_no_printed_line_is_a_command(recording: Path) -> None:
    """Under a CI runner no printed line begins with `::`, and `##` never occurs."""
    for arguments in (
        ["-p"],
        ["-p", "--times"],
        *(["--output-format", name] for name in ("json", "summary")),
    ):
        for runner in RUNNERS:
            with case(f"{' '.join(arguments)}, {runner}"):
                shown = printed(*arguments, recording, **{runner: "true"})
                assert shown.strip()
                assert "##" not in shown
                assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    # Breaking the commands in JSON changes only the spelling; the decoded values stay the same.
    for output_format in ("json", "summary"):
        with case(output_format):
            plain = json.loads(printed("--output-format", output_format, recording))
            broken = json.loads(printed("--output-format", output_format, recording, GITHUB_ACTIONS="true"))
            assert plain == broken
            assert "##[error]" in plain["result"]


class Clock:
    """A clock that a test moves, instead of the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Return the time of the test."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the progress."""
    clock = Clock()
    monkeypatch.setattr(messages, "time", clock)
    return clock


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal at stderr."""
    monkeypatch.setattr(os, "isatty", lambda fd: fd == 2)


def test_nothing_is_shown_without_a_terminal(clock: Clock, capfd: pytest.CaptureFixture[str]) -> None:
    """In a script, stderr has no progress."""
    shown = ShownProgress().step("writing")
    clock.now += 60
    shown(1, 2)
    shown.clear()
    assert capfd.readouterr().err == ""


def test_progress_is_one_line_that_is_removed(
    clock: Clock, terminal: None, capfd: pytest.CaptureFixture[str]
) -> None:
    """After a second the line names the step and its share, five times a second at most."""
    shown = ShownProgress().step("redacting")
    clock.now += 1.0
    shown(1, 4)
    clock.now += 0.125
    shown(2, 4)
    assert capfd.readouterr().err == "\r\x1b[Kagentwatch: redacting 25 %"
    shown.step("writing")
    clock.now += 0.125
    shown(9, 4)
    assert capfd.readouterr().err == "\r\x1b[Kagentwatch: writing 100 %"
    shown.clear()
    shown.clear()
    assert capfd.readouterr().err == "\r\x1b[K"
    # A recording of no bytes does not divide by them.
    shown = ShownProgress().step("writing")
    clock.now += 2
    shown(0, 0)
    assert capfd.readouterr().err.endswith("writing 0 %")
    # A step whose share is unknown is shown once, however short before it the last share was shown.
    shown = ShownProgress().step("reading")
    shown.step("aligning").show("…")
    clock.now += 1.5
    shown.step("reading")(99, 100)
    shown.step("aligning").show("…")
    assert capfd.readouterr().err == "\r\x1b[Kagentwatch: reading 99 %\r\x1b[Kagentwatch: aligning …"
    # What is done within a second leaves no trace.
    shown = ShownProgress().step("writing")
    clock.now += 0.99
    shown(1, 2)
    shown.clear()
    assert capfd.readouterr().err == ""


def test_reading_a_session_as_it_is_reports_its_progress() -> None:
    """The last report is about all bytes of the recording."""
    path = RECORDINGS / "demo.ndjson"
    reported: list[tuple[int, int]] = []
    exported(open_saved(path), "demo", Wanted(is_raw=True), progress=lambda *each: reported.append(each))
    assert reported[-1] == (path.stat().st_size, path.stat().st_size)
