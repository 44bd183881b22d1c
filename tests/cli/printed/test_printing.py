"""Printing stops when its reader goes away, follows a growing file, and prints a replay like the file."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentwatch.agents.registry import known_agents
from agentwatch.cli.stdout import write_line
from agentwatch.recording.store import saved_recordings
from agentwatch.text.safe import SafeText, styled
from tests.builders.formats.plugin import STREAM, install
from tests.builders.formats.unknown_agents import FOREIGN, STREAMS
from tests.builders.lines import completed, event, init, result
from tests.conftest import ROOT, Saver, case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, in_terminal
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, PLAIN, PLAIN_TEXT, environment, ran, watch


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["big.ndjson"],
        pytest.param(["-p", "--times", "big.ndjson"], marks=pytest.mark.system),
        pytest.param(["big.ndjson", "--output-format", "stream-json"], marks=pytest.mark.system),
        pytest.param(["-p", "-"], marks=pytest.mark.system),
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_leaves_no_traceback(tmp_path: Path, arguments: list[str]) -> None:
    """`agentwatch … | head -1` prints the first line and nothing on stderr."""
    calls = [completed("read", f"c-{number}", {"success": {}}, path="x" * 150) for number in range(3000)]
    big = tmp_path / "big.ndjson"
    big.write_bytes(b"".join([init(), *calls, result()]))
    with big.open("rb") as stdin, (tmp_path / "stderr").open("wb") as stderr:
        program = subprocess.Popen(
            [*AGENTWATCH, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(),
            cwd=tmp_path,
            start_new_session=True,
        )
        with program:
            assert program.stdout
            assert program.stdout.readline()
            program.stdout.close()
            assert program.wait(20) in (0, 128 + signal.SIGPIPE)
    assert (tmp_path / "stderr").read_bytes() == b""


@pytest.mark.slow
@pytest.mark.parametrize(
    "output_format",
    [
        "text",
        *(
            pytest.param(name, marks=pytest.mark.system)
            for name in ("json", "stream-json", "final", "summary")
        ),
    ],
)
def test_a_reader_that_has_gone_hides_no_exit_code(home: Path, output_format: str) -> None:
    """If nobody reads what `run` prints, even at its end, the agent's exit code is returned and recorded."""
    agent = ["sh", "-c", 'cat "$0"; exit 7', str(PLAIN)]
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [*AGENTWATCH, "run", "--print", "--output-format", output_format, "--", *agent],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=20,
        check=False,
        start_new_session=True,
    )
    os.close(writing)
    assert run.returncode == 7
    assert run.stderr == "agentwatch: the run failed, exit 7 · result says ✓\n".encode()
    (described,) = (home / "sessions").glob("*.json")
    assert json.loads(described.read_bytes())["exit_code"] == 7


@pytest.mark.slow
def test_following_a_file_prints_what_is_appended(tmp_path: Path) -> None:
    """With -f, appended lines are printed when they are complete, until a signal ends the program."""
    path = tmp_path / "growing.ndjson"
    path.write_bytes(init() + completed("read", "a", {"success": {}}, path="a"))
    argv = [*AGENTWATCH, "-f", str(path), "--print"]
    with (
        subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment(), start_new_session=True) as program,
        path.open("ab", buffering=0) as file,
    ):
        assert program.stdout
        assert program.stdout.readline() == b"Read file a\n"
        more = completed("shell", "b", {"success": {}}, command="make")
        file.write(more[:40])
        file.write(more[40:])
        assert program.stdout.readline() == b"Ran terminal command make\n"
        file.write(result())
        file.write(completed("read", "c", {"success": {}}, path="c"))
        assert program.stdout.readline() == b"Read file c\n"
        assert program.poll() is None
        program.send_signal(signal.SIGINT)
        assert program.wait(20) == 128 + signal.SIGINT


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the switches of a thread")
def test_an_idle_run_is_waited_for(tmp_path: Path) -> None:
    """While the agent writes nothing, printing sleeps until it does: a hundred wakings a second took 1 % of a
    core. What it writes then is printed."""
    agent = ["sh", "-c", 'head -3 "$0"; read -r _ < "$1"; tail -n +4 "$0"', str(PLAIN), str(tmp_path / "go")]
    os.mkfifo(tmp_path / "go")
    argv = [*AGENTWATCH, "run", "-p", "--", *agent]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment(), start_new_session=True) as run:
        until(lambda: any(path.stat().st_size for path in saved_recordings()), what="the recording")
        time.sleep(0.5)  # its end is read
        before, began = _switches(run.pid), time.monotonic()
        time.sleep(1)
        switches, seconds = _switches(run.pid) - before, time.monotonic() - began
        (tmp_path / "go").write_text("\n")
        assert run.communicate(timeout=20)[0] == PLAIN_TEXT
    assert switches < 10 * seconds


def _switches(pid: int) -> int:
    status = Path(f"/proc/{pid}/task/{pid}/status").read_text()
    return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def test_a_replay_prints_what_the_file_prints() -> None:
    """A replay in print mode prints the same lines in the same order as the file. The demo plays a bundled
    session to its end and exits with 0.
    """
    done = ran("replay", PLAIN, "--speed", "1000", "--max-idle", "0")
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)
    done = ran("demo", "--speed", "1000", "--max-idle", "0")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 14


LINE = styled((SafeText("Ran pytest "), ""), (SafeText("(failed)"), "failed"), (SafeText("  "), "muted"))
WITHOUT_COLOUR = b"Ran pytest (failed)  \n"
COMMANDS: list[tuple[str, ...]] = [
    ("-p", str(DEMO)),
    ("-p", "--times", str(DEMO)),
    ("show", f"{DEMO}#6"),
    ("show", str(DEMO)),
    ("check", str(DEMO), "--limit", "failed=0", "--limit", "calls=99"),
    ("check", str(DEMO), "--limit", "failed=0", "--explain"),
]
"""Commands whose lines have no width."""
ENVIRON = {"TERM": "xterm-256color", "TZ": "UTC"}


def test_only_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe, `NO_COLOR` and a dumb terminal get the plain text; a blank piece has no code."""
    leader, terminal = os.openpty()
    reader, pipe = os.pipe()
    try:
        for sink, source, environ, expected in (
            (terminal, leader, {"TERM": "xterm"}, b"Ran pytest \x1b[31m(failed)\x1b[0m  \r\n"),
            (terminal, leader, {"TERM": "xterm", "NO_COLOR": "1"}, WITHOUT_COLOUR.replace(b"\n", b"\r\n")),
            (terminal, leader, {"TERM": "dumb"}, WITHOUT_COLOUR.replace(b"\n", b"\r\n")),
            (pipe, reader, {"TERM": "xterm"}, WITHOUT_COLOUR),
        ):
            with case(environ), monkeypatch.context() as patched:
                patched.delenv("NO_COLOR", raising=False)
                for name, value in environ.items():
                    patched.setenv(name, value)
                write_line(LINE, sink)
                found = b""
                while not found.endswith(b"\n"):  # a terminal gives what it has so far
                    found += os.read(source, 100)
                assert found == expected
    finally:
        for fd in (leader, terminal, reader, pipe):
            os.close(fd)


@pytest.mark.system
def test_the_colours_change_no_text() -> None:
    """Without its codes, a terminal gets the bytes that a pipe gets; `--no-color` leaves them out."""
    for words in COMMANDS:
        with case(words):
            plain = ran(*words, TZ="UTC").stdout.replace(b"\n", b"\r\n")
            printed = []
            for more in ((), ("--no-color",)):
                with in_terminal(*words, *more, env=ENVIRON, size=(400, 40)) as terminal:
                    terminal.wait_exit()
                    printed.append(terminal.raw)
            assert b"\x1b[2m" in printed[0]
            assert re.sub(rb"\x1b\[[0-9;]*m", b"", printed[0]).startswith(plain)
            assert printed[1].startswith(plain)


OUTPUT = b"Ran terminal command pytest -q (failed: exit 1)\n"


@pytest.mark.slow
def test_the_format_of_a_plugin_is_detected(tmp_path: Path, recording: Saver) -> None:
    """A stream in the format of an installed package is printed like any other."""
    done = watch("-p", recording(STREAM), PYTHONPATH=f"{ROOT}:{install(tmp_path)}")
    assert (done.returncode, done.stdout, done.stderr) == (0, OUTPUT, b"")


@pytest.mark.system
def test_the_format_of_a_plugin_can_be_named(tmp_path: Path, recording: Saver) -> None:
    """`--format` reads a stream in a plugin's format from its first line, and its help names the format.

    A plugin that fails is one line on stderr, also for each command that reads a stream, and cannot be named.
    Its words can act neither on a terminal nor on a CI runner.
    """
    path, source = f"{ROOT}:{install(tmp_path)}", recording(STREAM)
    done = watch("-p", "--format", "tern", source, PYTHONPATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, OUTPUT, b"")
    assert b"tern" in watch("--help", PYTHONPATH=path).stdout
    wrong = watch("-p", "--format", "trn", source, PYTHONPATH=path)
    assert wrong.returncode == 2
    assert wrong.stderr.endswith(b", tern (see agentwatch --help)\n")
    assert wrong.stderr.count(b"\n") == 1
    install(tmp_path, "1 / 0")
    for words in (["-p"], ["-p", "--times"], ["doctor"]):
        with case(words):
            done = watch(*words, source, PYTHONPATH=path)
            assert done.returncode == 2
            problem = b"agentwatch: format plugin tern: ZeroDivisionError: division by zero\n"
            assert done.stderr.count(problem) == 1
            assert b"Traceback" not in done.stderr
    assert watch("-p", PLAIN, PYTHONPATH=path).stderr == b""
    install(tmp_path, "AGENT = 7")
    done = watch("-p", "--format", "tern", source, PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stderr == (
        b"agentwatch: format plugin tern: tern_format:AGENT is not an agentwatch.agents.Agent"
        b" (see agentwatch --help)\n"
    )
    for text in ("\x1b[31mred", "::error::x"):
        install(tmp_path, f"raise ValueError({text!r})")
        with case(text):
            done = watch("-p", source, PYTHONPATH=path, CI="1", GITHUB_ACTIONS="true")
            assert b"\x1b" not in done.stderr
            assert done.stderr.count(b"\n") == 2


FORMATS = ("text", "json", "stream-json", "final", "summary")
OTHER = FOREIGN + event("farewell", is_error=False, result="x")
WORDS = "agentwatch: not a stream of an agent that this version knows (first line: "
FOR_TEXT = "): add --output-format stream-json to the agent's command\n"
FOR_JSON = "): try --format NAME, or agentwatch doctor FILE, or add a format: docs/plugins.md\n"


def test_another_agent_is_unknown_in_every_format(recording: Saver, tmp_path: Path) -> None:
    """A stream of an agent that is not known exits with 2 and says so in one line."""
    for name, data in STREAMS.items():
        for form in FORMATS:
            with case(f"{name}, {form}"):
                done = ran(recording(data), "--output-format", form)
                assert done.returncode == 2
                said = done.stderr.decode()
                assert said.startswith(WORDS)
                assert said.endswith(FOR_JSON)
                assert said.count("\n") == 1
                if form == "summary":
                    printed = json.loads(done.stdout)
                    assert (printed["format"], printed["outcome"], printed["runs"]) == (None, None, 0)
                else:
                    assert done.stdout == (data if form == "stream-json" else b"")
    # Plain text names the flag that was forgotten; other JSON names what to try
    cases: list[tuple[bytes, str, str]] = [
        (b"I fixed it.\nTwo tests pass.\n", "I fixed it.", FOR_TEXT),
        (b"\n \nDone\x1b[0m", "Done␛[0m", FOR_TEXT),
        (b"x" * 70, "x" * 59 + "…", FOR_TEXT),
        (b"a warning\n" + OTHER, "a warning", FOR_JSON),
        (b'{\n  "type": "result"\n}\n', "{", FOR_JSON),
        (b"[1]\n", "[1]", FOR_JSON),
    ]
    for data, first, advice in cases:
        with case(data):
            done = ran("-p", stdin=data)
            assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", f"{WORDS}{first}{advice}")
    # The log says that the agent is not known, live and from the recording; `log` exits with 2. `drift` lists
    # the lines of an agent that is not known, and exits with 2
    saved, log = tmp_path / "r.ndjson", tmp_path / "r.log"
    ran("-p", "--record", saved, "--log", log, stdin=OTHER)
    done = ran("-p", "--times", saved)
    assert done.returncode == 2
    assert done.stdout == log.read_bytes()
    assert done.stdout.decode().startswith(
        "# not a stream of an agent that this version knows (first line: {"
    )
    assert done.stdout.count(b"\n") == 1
    assert done.stderr.decode().startswith(WORDS)
    done = ran("doctor", recording(OTHER))
    assert (done.returncode, done.stderr) == (2, b"")
    assert b", format no known agent: 2 lines, 0 malformed, 2 unknown; 2 findings\n" in done.stdout
    assert ran("doctor", recording(b"")).returncode == 0


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 4])
def test_run_exits_with_the_code_of_an_unknown_agent(code: int, recording: Saver) -> None:
    """`run` passes on the exit code of an agent that is not known, and says that it is not known."""
    done = watch("run", "-p", "--", *command(recording(OTHER), "--exit", str(code), "--stderr", "oops"))
    assert done.returncode == code
    said = done.stderr.decode().splitlines()
    assert said[-1].startswith(WORDS)
    assert said[:-1] == (["agentwatch: the agent's stderr: oops"] if code else [])


@pytest.mark.slow
def test_a_named_format_is_not_detected(recording: Saver) -> None:
    """With --format, a stream is read in that format although its first line is not of it."""
    path = recording(event("hello"), result("Done."))
    commands: list[list[str]] = [["-p"], ["--output-format", "json"], ["-p", "--times"], ["doctor"]]
    for arguments in commands:
        with case(" ".join(arguments)):
            assert ran(*arguments, path).returncode == 2
            done = ran(*arguments, path, "--format", "cursor")
            assert done.returncode == 0
            assert b"no known agent" not in done.stdout + done.stderr
    assert watch("run", "-p", "--format", "cursor", "--", *command(path)).returncode == 0
    assert ran("replay", path, "--speed", "1000", "--format", "cursor").returncode == 0


def test_a_named_format_is_used_or_refused(tmp_path: Path, recording: Saver) -> None:
    """An unknown format is a usage error that lists the known ones, as the help does."""
    done, names = ran(PLAIN, "--format", "kursor"), [agent.name for agent in known_agents()]
    assert (done.returncode, done.stdout) == (2, b"")
    known = f"agentwatch: --format: 'kursor' is not one of: {', '.join(names)} (see agentwatch --help)\n"
    assert done.stderr.decode() == known
    assert {*names} <= {*re.split(r"[\s,.]+", ran("--help").stdout.decode())}
    # The log of a stream that is read in a named format is written in that format too
    log = tmp_path / "l"
    data = event("hello") + init() + result("Done.")
    ran("-p", "--format", "cursor", "--log", log, stdin=event("hello") + result("Done."))
    assert b"# succeeded" in log.read_bytes()
    assert ran("-p", "--times", recording(data), "--format", "cursor").returncode == 0
