"""Exit codes and error lines: for the run, the agent, wrong use, and files that cannot be written."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.builders.lines import init
from tests.conftest import ROOT, case
from tests.harness.fake_agent import command
from tests.harness.program import (
    AGENTWATCH,
    FAILED,
    PLAIN,
    PLAIN_TEXT,
    UNFINISHED,
    environment,
    files,
    ran,
    watch,
)


def test_the_exit_code_is_that_of_the_run(tmp_path: Path) -> None:
    """A run that failed, or has no result, exits with 1 in every output format. A stream that ends without a
    result exits with 1, even if it is empty.
    """
    for path in (FAILED, UNFINISHED):
        for form in ("text", "stream-json"):
            with case(f"{path.stem}, {form}"):
                assert ran(path, "--output-format", form).returncode == 1
    for data in (b"\n \n", init(), b"a notice\n" + init()):
        with case(data):
            done = ran("-p", stdin=data)
            assert (done.returncode, done.stdout) == (1, b"")
            assert done.stderr == b"agentwatch: the stream ended without a result\n"
    # Where no byte came, the line says so, and names what a newcomer may have wanted
    (tmp_path / "empty").touch()
    what_to_do = "pipe an agent's output into agentwatch, or run agentwatch sessions"
    for name, words in (
        ("-", f"there is nothing on stdin: {what_to_do}"),
        ("empty", "empty is empty"),
        (os.devnull, f"there is nothing on {os.devnull}: {what_to_do}"),
    ):
        for options in ("--output-format=json", "-p", "--format=pi"):
            with case(f"{name} {options}"):
                done = ran(options, name, stdin=b"", cwd=tmp_path)
                assert (done.returncode, done.stdout) == (1, b"")
                assert done.stderr.decode() == f"agentwatch: {words}\n"


def test_wrong_use_is_one_error_line(tmp_path: Path) -> None:
    """Wrong use, or an input that cannot be opened, exits with 2 and one error line, and creates no file."""
    cases = [
        *(
            "missing.ndjson",
            ".",
            "doctor missing.ndjson",
            "plain.ndjson --record a",
            "run",
            "--no-such-option",
        ),
        *("--output-format xml", "--brief --output-format json", "--tee --print"),
        *("--log a --no-log", "--record a --no-record"),
    ]
    (tmp_path / "plain.ndjson").write_bytes(PLAIN.read_bytes())
    for words in cases:
        with case(words):
            done = ran(*words.split(), cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, b"")
            assert re.fullmatch(rb"agentwatch: [^\n]+\n", done.stderr)
            assert files(tmp_path) == {"plain.ndjson"}
    # A misspelt command is recognised, and the error names the help of the command that was used
    mistakes = [
        (
            "chekc x",
            "no command, file or session is called chekc; did you mean check? (see agentwatch --help)",
        ),
        ("cmpare a b", "did you mean compare? (see agentwatch --help)"),
        ("hooks", "Choose from: status, install, remove (see agentwatch hooks --help)"),
        ("check --nope", "(see agentwatch check --help)"),
        ("engine", "agentwatch: Missing command (see agentwatch engine --help)"),
        ("show", "agentwatch: Missing argument 'ADDRESS' (see agentwatch show --help)"),
        ("engine limits", "(see agentwatch engine limits --help)"),
        ("--nope", "(see agentwatch --help)"),
        ("compare plain.ndjson text.txt", "agentwatch: text.txt: not a stream of an agent"),
    ]
    (tmp_path / "text.txt").write_text("hello\n")
    for words, reason in mistakes:
        with case(words):
            done = ran(*words.split(), cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, b"")
            said = done.stderr.decode()
            assert said.count("\n") == 1
            assert "␊" not in said
            assert reason in said
    (tmp_path / "demoo").write_bytes(PLAIN.read_bytes())
    assert ran("demoo", cwd=tmp_path).returncode == 0  # a file wins
    # A JSON document over many lines is reported at once, and none of its 800,000 lines is read
    path = tmp_path / "package.json"
    path.write_bytes(b'{\n  "name": "x",\n' + b'  "a": 1,\n' * 800_000 + b'  "b": 2\n}\n')
    for options in ((), ("-p",), ("replay",), ("-p", "--times"), ("doctor",)):
        with case(options):
            done = ran(*options, path)
            assert (done.returncode, done.stdout) == (2, b"")
            said = f"agentwatch: {path} is one JSON document, not one JSON object per line\n"
            assert done.stderr.decode() == said


def test_a_file_that_cannot_be_created_is_one_error_line(tmp_path: Path) -> None:
    """A recording or log that cannot be created exits with 73 and one error line; nothing is overwritten."""
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere")
    for option, name in (
        ("--record", "taken"),
        ("--record", "dangling"),
        ("--record", "no/r"),
        ("--log", "taken"),
    ):
        with case(f"{option} {name}"):
            done = ran("-p", option, tmp_path / name, stdin=PLAIN.read_bytes())
            assert (done.returncode, done.stdout) == (73, b"")
            assert re.fullmatch(rb"agentwatch: cannot create [^\n]+\n", done.stderr)
            assert (tmp_path / "taken").read_text() == "mine"
            assert files(tmp_path) == {"taken", "dangling"}


@pytest.mark.slow
def test_a_run_without_its_files_is_an_error(tmp_path: Path) -> None:
    """If a recording or log of `run` cannot be created, the agent is not started."""
    taken, mark = tmp_path / "taken", tmp_path / "mark"
    taken.write_text("mine")
    for option in ("--record", "--log"):
        with case(option):
            done = watch("run", "-p", option, taken, "--", "touch", mark)
            assert (done.returncode, mark.exists(), taken.read_text()) == (73, False, "mine")
    # A recording that could not be written completely exits with 74 and one line on stderr
    limited = f'ulimit -f 1; exec "$@" -p --no-log --record "{tmp_path}/r"'
    limit = subprocess.run(
        ["sh", "-c", limited, "sh", *AGENTWATCH],
        input=PLAIN.read_bytes(),
        capture_output=True,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        timeout=20,
        check=False,
    )
    assert limit.returncode == 74
    assert re.fullmatch(rb"agentwatch: the recording is incomplete: [^\n]+\n", limit.stderr)


@pytest.mark.slow
def test_an_internal_error_is_one_error_line(tmp_path: Path) -> None:
    """An internal error exits with 70 and one line on stderr; its traceback is saved beside the recording."""
    broken = (
        "import agentwatch.output.summary as module\ndef fault(*_given): raise RuntimeError('injected')\n"
    )
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sitecustomize.py").write_text(broken + "module.summary = fault\n")
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [*AGENTWATCH, "--output-format", "summary", "--record", str(tmp_path / "out" / "r.ndjson")],
        input=PLAIN.read_bytes(),
        capture_output=True,
        env=environment(PYTHONPATH=f"{tmp_path / 'broken'}{os.pathsep}{ROOT}"),
        timeout=20,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 70
    assert re.fullmatch(rb"agentwatch: [^\n]+\n", done.stderr)
    assert [path for path in (tmp_path / "out").iterdir() if "RuntimeError: injected" in path.read_text()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "switches", "code"),
    [
        (PLAIN, ["--exit", "3"], 3),
        (PLAIN, ["--die", "KILL"], 128 + signal.SIGKILL),
        pytest.param(PLAIN, [], 0, marks=pytest.mark.system),
        pytest.param(FAILED, [], 1, marks=pytest.mark.system),
        pytest.param(UNFINISHED, [], 1, marks=pytest.mark.system),
        pytest.param(UNFINISHED, ["--die", "TERM"], 128 + signal.SIGTERM, marks=pytest.mark.system),
    ],
)
def test_the_exit_code_of_run_is_the_agents(path: Path, switches: list[str], code: int) -> None:
    """`run` exits with the agent's code, or 128 + n after a signal; 0 without a good result becomes 1."""
    done = watch("run", "-p", "--", *command(path, *switches))
    assert done.returncode == code
    assert path is not PLAIN or done.stdout == PLAIN_TEXT


@pytest.mark.slow
def test_a_command_that_cannot_be_started_is_one_error_line(tmp_path: Path, home: Path) -> None:
    """A command that is not found exits with 127, leaving no session; one that is not a program with 126."""
    done = watch("run", "-p", "--", "no-such-agent-anywhere", "-x")
    assert (done.returncode, done.stdout) == (127, b"")
    assert re.fullmatch(rb"agentwatch: cannot start no-such-agent-anywhere: [^\n]+\n", done.stderr)
    assert files(home) == set()
    for name, mode in (("file", 0o644), ("program", 0o755)):
        (tmp_path / name).write_bytes(b"\x00\x01 no program")
        (tmp_path / name).chmod(mode)
    (tmp_path / "folder").mkdir()
    for name in ("file", "program", "folder"):
        with case(name):
            done = watch("run", "-p", "--", tmp_path / name)
            assert (done.returncode, done.stdout) == (126, b"")
            assert re.fullmatch(rb"agentwatch: cannot start [^\n]+\n", done.stderr)


@pytest.mark.system
@pytest.mark.slow
def test_the_stderr_of_a_failed_agent_is_printed() -> None:
    """The last stderr lines of a failed agent are printed, made safe; those of a successful one are not."""
    done = watch("run", "-p", "--", *command(UNFINISHED, "--stderr", "no \x1b[31mlogin", "--exit", "1"))
    assert "no ␛[31mlogin" in done.stderr.decode()
    assert b"\x1b" not in done.stderr
    assert watch("run", "-p", "--", *command(PLAIN, "--stderr", "a warning")).stderr == b""


@pytest.mark.system
@pytest.mark.slow
def test_a_closed_stdout_is_an_error(tmp_path: Path, home: Path) -> None:
    """What cannot be printed because stdout is closed is reported in one line with 74, by every command."""
    (home / "sessions").mkdir(mode=0o700, parents=True)
    (home / "sessions" / "20261120-140307-123abcdef.ndjson").write_bytes(PLAIN.read_bytes())
    cases: list[tuple[str | Path, ...]] = [
        ("-p", PLAIN),
        *((PLAIN, "--output-format", form) for form in ("json", "stream-json", "final", "summary")),
        ("replay", "-p", "--speed", "64", PLAIN),
        ("-p", "--times", PLAIN),
        *((name, PLAIN) for name in ("show", "doctor")),
        ("show", f"{PLAIN}#1", "--json"),
        ("check", PLAIN, "--require", "result"),
        ("check", PLAIN, "--require", "result", "--output-format", "junit"),
        ("check", "--init"),
        ("compare", PLAIN, FAILED),
        ("compare", PLAIN, FAILED, "--json"),
        ("export", PLAIN, "--to", "markdown", "-o", "-"),
        ("export", PLAIN, "--to", "markdown", "-o", "/dev/stdout"),
        ("export", "--to", "recording", f"{PLAIN}#1", "-o", "-"),
        ("export", "--to", "recording", PLAIN, "-o", "-"),
        ("sessions", "--all"),
        ("sessions", "--all", "--json"),
        ("stats", "--json"),
        ("status",),
        ("status", "--format", "{failed}"),
        ("doctor",),
        ("hooks", "status"),
        ("completion", "bash"),
        ("--help",),
        ("--version",),
        ("run", "-p", "--no-record", "--", "cat", PLAIN),
    ]
    for words in cases:
        with case(" ".join(map(str, words))):
            done = subprocess.run(
                ["sh", "-c", 'exec "$@" >&-', "sh", *AGENTWATCH, *map(str, words)],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment(),
                cwd=tmp_path,
                timeout=20,
                check=False,
            )
            assert done.returncode == 74
            lines = done.stderr.lower().splitlines()
            assert lines.count(b"agentwatch: cannot print: bad file descriptor") == 1
            assert all(line.startswith(b"agentwatch: ") for line in lines)
