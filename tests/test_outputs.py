"""What a script sees: the printed formats, the exit codes and the files, through the real program."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentwatch.actions import action
from agentwatch.outputs.log import ActionLog
from agentwatch.outputs.summary import summary
from agentwatch.session import Session
from agentwatch.status import status
from tests.conftest import RECORDINGS, ROOT
from tests.fake_agent import command
from tests.lines import (
    CURSOR_SHAPED,
    PROPERTY,
    completed,
    final,
    init,
    line,
    result,
    segment,
    session,
    started,
    user,
)

PLAIN = RECORDINGS / "plain.ndjson"
PLAIN_TEXT = b"Read file lantern/settings.py (6 lines)\nEdited file lantern/settings.py (+1 -1)\n"
FAILED = RECORDINGS / "failed-run.ndjson"
UNFINISHED = RECORDINGS / "unfinished.ndjson"
AGENTWATCH = [sys.executable, "-W", "error", "-m", "agentwatch"]


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which the program is found, and no user's configuration."""
    return os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "TZ": "Asia/Tokyo"} | more


def watch(
    *arguments: str | Path, stdin: bytes | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run agentwatch to its end, with a pipe on stdin if something comes through it, and no terminal."""
    return subprocess.run(
        [*AGENTWATCH, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        env=environment(),
        cwd=cwd,
        timeout=20,
        check=False,
        start_new_session=True,
    )


def files(folder: Path) -> set[str]:
    """Return the names of all files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Path]:
    """Return a recording of these lines."""

    def write(*lines: bytes) -> Path:
        path = tmp_path / "case.ndjson"
        path.write_bytes(b"".join(lines))
        return path

    return write


# --- text ------------------------------------------------------------------------------------------


def test_text_is_a_line_per_call() -> None:
    """The text format is what is inferred without a terminal: a line per call, in order of completion."""
    for arguments in ((PLAIN,), (PLAIN, "-p", "--output-format", "text")):
        done = watch(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, PLAIN_TEXT, b"")


def test_text_is_in_the_order_of_completion() -> None:
    """Parallel calls are told as they end, and one that never ends at the end of the stream."""
    assert watch(RECORDINGS / "parallel.ndjson").stdout.decode().splitlines() == [
        "Read file config/test.toml (3 lines)",
        "Read file config/prod.toml (4 lines)",
        "Read file config/dev.toml (3 lines)",
    ]
    assert watch(UNFINISHED).stdout.decode().splitlines() == [
        "Read file Cargo.toml (4 lines)",
        "Ran terminal command cargo build --release (unfinished)",
    ]


def test_brief_is_the_bare_phrase() -> None:
    """With --brief a line is what the agent's own text format documents."""
    done = watch(PLAIN, "--brief")
    assert (done.returncode, done.stdout) == (0, b"Read file\nEdited file\n")


@pytest.mark.parametrize("arguments", [[], ["-", "--no-color"]])
def test_a_pipe_on_stdin_is_watched(arguments: list[str]) -> None:
    """`cat FILE | agentwatch` prints what `agentwatch FILE` prints."""
    shell = 'cat "$1"; shift; exec true'
    with subprocess.Popen(["sh", "-c", shell, "sh", str(PLAIN)], stdout=subprocess.PIPE) as producer:
        done = subprocess.run(
            [*AGENTWATCH, *arguments],
            stdin=producer.stdout,
            capture_output=True,
            env=environment(),
            timeout=20,
            check=False,
            start_new_session=True,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, PLAIN_TEXT, b"")


# --- json and stream-json ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "json-format", "two-runs", "disagreement"])
def test_json_is_the_result_as_the_agent_sent_it(name: str) -> None:
    """The json format is the raw line of the last result, and nothing else."""
    path = RECORDINGS / f"{name}.ndjson"
    done = watch(path, "--output-format", "json")
    assert done.stdout == path.read_bytes().splitlines()[-1] + b"\n"
    assert (done.returncode, done.stderr) == (0, b"")


def test_json_is_byte_identical(recorded: Callable[..., Path]) -> None:
    """Unknown fields, odd spacing, a CR and a missing line end do not change what is printed."""
    head = b'{ "type": "result","session_id":"s-1","is_error":false, '
    raw = head + b'"result":"caf\\u00e9 \xc3\xa9",  "new":1.50}'
    for ending in (b"", b"\n", b"\r\n"):
        done = watch(recorded(init(), raw + ending), "--output-format", "json")
        assert (done.returncode, done.stdout) == (0, raw + b"\n")


@pytest.mark.parametrize(
    ("path", "reason"),
    [(FAILED, "the monthly allowance of this account is used up"), (UNFINISHED, "without a result")],
)
def test_json_of_a_failure_is_on_stderr(path: Path, reason: str) -> None:
    """A failed run, or one without a result, has nothing on stdout and its reason on stderr."""
    done = watch(path, "--output-format", "json")
    assert (done.returncode, done.stdout) == (1, b"")
    assert reason in done.stderr.decode()
    assert done.stderr.startswith(b"agentwatch: ")


def test_json_of_a_later_run_is_not_an_earlier_runs(recorded: Callable[..., Path]) -> None:
    """When the last run has no result, that of a run before it is not printed in its place."""
    done = watch(recorded(init(), result("x"), init(), user()), "--output-format", "json")
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.parametrize("name", ["hostile", "malformed", "unfinished"])
def test_stream_json_is_every_byte(name: str) -> None:
    """The stream comes out byte for byte, malformed lines and half lines included."""
    path = RECORDINGS / f"{name}.ndjson"
    assert watch(path, "--output-format", "stream-json").stdout == path.read_bytes()


def test_stream_json_of_a_pipe_is_every_byte() -> None:
    """What comes through a pipe is passed on unchanged, whatever it is."""
    data = b"\xff\x00\r\n\n{}\n" + b"x" * 300_000
    done = watch("--output-format", "stream-json", stdin=data)
    assert done.returncode == 1
    assert (len(done.stdout), done.stdout[:9]) == (len(data), data[:9])


# --- summary -------------------------------------------------------------------------------------------

KEYS = [
    *("format", "session_id", "model", "cwd", "permission_mode", "api_key_source", "outcome", "prompt"),
    *("text", "result", "text_matches_result", "duration_ms", "duration_api_ms", "request_id", "usage"),
    *("runs", "calls", "lines", "orphans", "integrity"),
]
CALL_KEYS = [
    *("call_id", "tool", "target", "action", "outcome", "error", "exit_code", "lines_added"),
    *("lines_removed", "started_ms", "ended_ms", "duration_ms"),
]


def test_the_summary_tells_everything(recorded: Callable[..., Path]) -> None:
    """The summary of a run like the documentation's is CONTRACT's object, key for key, on one line."""
    read_ok = completed("read", "toolu_1", {"success": {"totalLines": 54}}, 1770823449980, path="README.md")
    write_ok = completed("write", "w\n1", {"success": {"linesCreated": 19}}, path="summary.txt")
    path = recorded(
        init("/Users/user/project", model="Claude 4 Sonnet"),
        user("Read README.md and summarise it"),
        segment("I'll read it."),
        started("read", "toolu_1", 1770823449274, path="README.md"),
        read_ok,
        started("write", "w\n1", path="summary.txt"),
        write_ok,
        final("Done."),
        result("I'll read it.Done.", duration_ms=5234, duration_api_ms=5234),
    )
    done = watch(path, "--output-format", "summary")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    assert done.stdout.endswith(b"\n")
    told = json.loads(done.stdout)
    assert list(told) == KEYS
    assert [list(call) for call in told["calls"]] == [CALL_KEYS] * 2
    unknown = dict.fromkeys(("error", "exit_code", "lines_added", "lines_removed"))
    assert told == {
        "format": "cursor",
        "session_id": "s-1",
        "model": "Claude 4 Sonnet",
        "cwd": "/Users/user/project",
        "permission_mode": "default",
        "api_key_source": "login",
        "outcome": "succeeded",
        "prompt": "Read README.md and summarise it",
        "text": "I'll read it.Done.",
        "result": "I'll read it.Done.",
        "text_matches_result": True,
        "duration_ms": 5234,
        "duration_api_ms": 5234,
        "request_id": "r-1",
        "usage": None,
        "runs": 1,
        "calls": [
            {
                "call_id": "toolu_1",
                "tool": "read",
                "target": "README.md",
                "action": "Read file README.md (54 lines)",
                "outcome": "succeeded",
                **unknown,
                "started_ms": 1770823449274,
                "ended_ms": 1770823449980,
                "duration_ms": 706,
            },
            {
                "call_id": "w\n1",
                "tool": "write",
                "target": "summary.txt",
                "action": "Created new file summary.txt (19 lines)",
                "outcome": "succeeded",
                **unknown,
                "started_ms": None,
                "ended_ms": None,
                "duration_ms": None,
            },
        ],
        "lines": {"total": 9, "events": 9, "malformed": 0, "unknown": 0, "repaired": 0, "oversize": 0},
        "orphans": {"completed_without_started": 0, "never_completed": 0},
        "integrity": {
            "holds": True,
            "line": "text = result · 2 of 2 calls paired · 0 malformed · 0 unknown",
            "difference_at": None,
        },
    }


@pytest.mark.parametrize(
    ("name", "code", "outcome"),
    [("plain", 0, "succeeded"), ("failed-run", 1, "failed"), ("unfinished", 1, "unfinished")],
)
def test_a_summary_is_printed_whatever_the_outcome(name: str, code: int, outcome: str) -> None:
    """A run that failed or has no result has a summary too, and its exit code."""
    done = watch(RECORDINGS / f"{name}.ndjson", "--output-format", "summary")
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (code, outcome)


def test_a_summary_of_nothing_knows_nothing() -> None:
    """An empty stream has a summary: unfinished, no runs, and null for all that is not known."""
    done = watch("--output-format", "summary", stdin=b"")
    told = json.loads(done.stdout)
    assert (done.returncode, told["runs"], told["calls"]) == (1, 0, [])
    assert told["outcome"] == "unfinished"
    assert [told[key] for key in ("format", "model", "result", "text_matches_result", "usage")] == [None] * 5


def test_a_summary_cannot_drive_a_terminal() -> None:
    """The summary of hostile text is the text, and in its bytes no control or direction mark stands."""
    done = watch(RECORDINGS / "hostile.ndjson", "--output-format", "summary")
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", done.stdout.decode()
    )
    assert json.loads(done.stdout)["model"].startswith("Model\x1b[2J")


HUGE = b'{"type":"result","session_id":"s-1","is_error":false,"duration_ms":%s,"usage":%s}\n'


@pytest.mark.parametrize(
    "ending",
    [
        HUGE % (b"100000000000000000000", b"null"),
        HUGE % (b"1e300", b"null"),
        HUGE % (b"1", b'{"a":123456789012345678901234567890,"b":NaN}'),
        HUGE % (b"9" * 400, b'{"b":NaN}'),
        HUGE % (b"1", b'{"a":' * 300 + b"1" + b"}" * 300),
        completed("shell", result={"success": {"exitCode": 10**30}}, at_ms=1e300),
    ],
    ids=["20 digits", "1e300", "usage of 30 digits", "400 digits", "deep usage", "a call"],
)
def test_no_number_and_no_depth_is_too_much(ending: bytes) -> None:
    """Whatever numbers and nesting a line bears, it is told in every format."""
    read = session(init(), started("shell", at_ms=1), ending)
    assert list(json.loads(b"".join(summary(read)))) == KEYS
    assert list(ActionLog(read).new_lines(is_over=True))
    assert [action(call) for call in read.calls]


@settings(PROPERTY, max_examples=60)
@given(st.lists(CURSOR_SHAPED, max_size=3))
def test_every_output_is_total(lines: list[dict[str, Any]]) -> None:
    """Any values in Cursor's fields come to a summary, a log, actions and a status, each of whole lines."""
    data = [json.dumps(fields).encode() + b"\n" for fields in lines]
    for read in (session(init(), *data), session(init(), started("read"), *data, is_over=False)):
        assert_told(read)


def assert_told(read: Session) -> None:
    """Check that every output of a session is made, and each of its lines is one."""
    assert b"\n" not in b"".join(summary(read))
    assert list(json.loads(b"".join(summary(read)))) == KEYS
    told = [*ActionLog(read).new_lines(is_over=True), *map(action, read.calls), status(read, 5_000)]
    assert all(text.isprintable() for text in told)


# --- exit codes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "stream-json"])
@pytest.mark.parametrize("path", [FAILED, UNFINISHED], ids=lambda path: path.stem)
def test_the_exit_code_is_that_of_the_run(path: Path, form: str) -> None:
    """A run that failed, or has no result, is 1, whatever is printed of it."""
    assert watch(path, "--output-format", form).returncode == 1


@pytest.mark.parametrize("data", [b"", b"\nno JSON\n", b'{"type":"weather"}\n'])
def test_a_stream_that_says_nothing_is_a_failure(data: bytes) -> None:
    """A stream that ends without a result is 1, if only because nothing came."""
    done = watch("-p", stdin=data)
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.ndjson"],
        ["."],
        ["log", "missing.ndjson"],
        ["--output-format", "xml"],
        ["--no-such-option"],
        ["--brief", "--output-format", "json"],
        ["--log", "a", "--no-log"],
        ["--record", "a", "--no-record"],
        ["--tee", "--print"],
        ["run"],
        ["plain.ndjson", "--record", "a"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_said_in_a_line(arguments: list[str], tmp_path: Path) -> None:
    """Wrong use, or an input that cannot be opened, is 2, one line on stderr, and no file."""
    (tmp_path / "plain.ndjson").write_bytes(PLAIN.read_bytes())
    done = watch(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert re.fullmatch(rb"agentwatch: [^\n]+\n", done.stderr)
    assert files(tmp_path) == {"plain.ndjson"}


@pytest.mark.parametrize(
    ("option", "kind"),
    [("--record", "file"), ("--record", "dangling"), ("--record", "no folder"), ("--log", "file")],
)
def test_what_cannot_be_created_is_said_first(tmp_path: Path, option: str, kind: str) -> None:
    """A recording or log that cannot be created is 73, said in a line; nothing is overwritten."""
    path = tmp_path / "out"
    if kind == "file":
        path.write_text("mine")
    elif kind == "dangling":
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path = path / "deeper"
    done = watch("-p", option, path, stdin=PLAIN.read_bytes())
    assert (done.returncode, done.stdout) == (73, b"")
    assert re.fullmatch(rb"agentwatch: cannot create [^\n]+\n", done.stderr)
    assert not (tmp_path / "elsewhere").exists()
    assert kind != "file" or path.read_text() == "mine"
    assert files(tmp_path) <= {"out"}


@pytest.mark.parametrize("option", ["--record", "--log"])
def test_no_agent_is_started_without_its_files(tmp_path: Path, option: str) -> None:
    """When the recording or the log of `run` cannot be created, the agent does not start."""
    taken, mark = tmp_path / "taken", tmp_path / "mark"
    taken.write_text("mine")
    done = watch("run", "-p", option, taken, "--", "touch", mark)
    assert (done.returncode, mark.exists(), taken.read_text()) == (73, False, "mine")


def test_a_recording_that_is_not_complete_is_said(tmp_path: Path) -> None:
    """When the recording cannot take all that comes, that is 74 and a line on stderr."""
    limited = f'ulimit -f 1; exec "$@" -p --no-log --record {tmp_path / "r"}'
    done = subprocess.run(
        ["sh", "-c", limited, "sh", *AGENTWATCH],
        input=PLAIN.read_bytes(),
        capture_output=True,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        timeout=20,
        check=False,
    )
    assert done.returncode == 74
    assert re.fullmatch(rb"agentwatch: the recording is not complete: [^\n]+\n", done.stderr)


def test_a_fault_of_our_own_is_said_in_a_line(tmp_path: Path) -> None:
    """A fault of ours is 70, one line on stderr, and its traceback lies beside the recording."""
    broken = "import agentwatch.outputs.summary as room\ndef fault(session): raise RuntimeError('injected')\n"
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sitecustomize.py").write_text(broken + "room.summary = fault\n")
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


# --- run -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "switches", "code"),
    [
        (PLAIN, [], 0),
        (PLAIN, ["--exit", "3"], 3),
        (FAILED, [], 1),
        (UNFINISHED, [], 1),
        (UNFINISHED, ["--die", "TERM"], 128 + signal.SIGTERM),
        (PLAIN, ["--die", "KILL"], 128 + signal.SIGKILL),
    ],
)
def test_the_exit_code_of_run_is_the_agents(path: Path, switches: list[str], code: int) -> None:
    """The agent's own code is ours, 128 + n when a signal ended it; 0 without a good result is 1."""
    done = watch("run", "-p", "--", *command(path, *switches))
    assert done.returncode == code
    assert path is not PLAIN or done.stdout == PLAIN_TEXT


def test_a_command_that_is_not_there_is_127(home: Path) -> None:
    """A command that is not found is 127, in a line, and leaves no session behind."""
    done = watch("run", "-p", "--", "no-such-agent-anywhere", "-x")
    assert (done.returncode, done.stdout) == (127, b"")
    assert re.fullmatch(rb"agentwatch: cannot start no-such-agent-anywhere: [^\n]+\n", done.stderr)
    assert files(home) == set()


@pytest.mark.parametrize("kind", ["file", "folder", "no program"])
def test_a_command_that_is_no_program_is_126(tmp_path: Path, kind: str) -> None:
    """A command that cannot be executed is 126, in a line."""
    path = tmp_path / "agent"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"\x00\x01 no program")
        path.chmod(0o755 if kind == "no program" else 0o644)
    done = watch("run", "-p", "--", path)
    assert (done.returncode, done.stdout) == (126, b"")
    assert re.fullmatch(rb"agentwatch: cannot start [^\n]+\n", done.stderr)


def test_run_records_all_of_its_agent(home: Path) -> None:
    """A session of `run` is a stem with five files, private: recording, times, log, stderr, process."""
    agent = command(PLAIN, "--stderr", "a warning", "--exit", "3")
    assert watch("run", "-p", "--", *agent).returncode == 3
    found = sorted((home / "sessions").iterdir())
    assert len({path.stem for path in found}) == 1
    assert [path.suffix for path in found] == [".json", ".log", ".ndjson", ".stderr", ".times"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}
    process, log, recording, stderr, times = found
    assert recording.read_bytes() == PLAIN.read_bytes()
    assert stderr.read_bytes() == b"a warning\n"
    assert re.fullmatch(rb"0 \d{13}\n(\d+ \d{13}\n)*", times.read_bytes())
    told = json.loads(process.read_bytes())
    assert (told["command"], told["exit_code"]) == (agent, 3)
    assert told["started_ms"] <= told["ended_ms"]
    assert watch("log", recording).stdout == log.read_bytes()


def test_run_may_keep_nothing(home: Path) -> None:
    """With --no-record and --no-log nothing is written, and all is printed."""
    done = watch("run", "-p", "--no-record", "--no-log", "--", *command(PLAIN))
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)
    assert files(home) == set()


def test_run_says_what_the_agent_said_when_it_fails() -> None:
    """The last lines of a failed agent's stderr are told, safely; those of a good one are not."""
    done = watch("run", "-p", "--", *command(UNFINISHED, "--stderr", "no \x1b[31mlogin", "--exit", "1"))
    assert "no ␛[31mlogin" in done.stderr.decode()
    assert b"\x1b" not in done.stderr
    assert watch("run", "-p", "--", *command(PLAIN, "--stderr", "a warning")).stderr == b""


# --- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ([], set()),
        (["--record", "r.ndjson"], {"r.ndjson", "r.times", "r.log"}),
        (["--record", "r.ndjson", "--no-log"], {"r.ndjson", "r.times"}),
        (["--log", "l.txt"], {"l.txt"}),
        (["--record", "r.ndjson", "--log", "l.txt"], {"r.ndjson", "r.times", "l.txt"}),
    ],
    ids=lambda value: " ".join(sorted(value)) or "nothing",
)
def test_printing_writes_what_it_is_asked_for(tmp_path: Path, options: list[str], written: set[str]) -> None:
    """Printing a pipe writes the files that --record and --log name, private, and no others."""
    done = watch("-p", *options, stdin=PLAIN.read_bytes(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, PLAIN_TEXT, b"")
    assert files(tmp_path) == written
    assert all(stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600 for name in written)
    if "r.ndjson" in written:
        assert (tmp_path / "r.ndjson").read_bytes() == PLAIN.read_bytes()


@pytest.mark.parametrize("name", ["demo", "hostile", "malformed", "rejected", "two-runs", "unfinished"])
def test_a_recorded_pipe_and_its_log_tell_the_same(tmp_path: Path, name: str) -> None:
    """A recording is the pipe byte for byte, and `agentwatch log` prints the log that the live run wrote."""
    path = RECORDINGS / f"{name}.ndjson"
    recording, log = tmp_path / "r.ndjson", tmp_path / "r.log"
    watch("-p", "--record", recording, stdin=path.read_bytes())
    assert recording.read_bytes() == path.read_bytes()
    done = watch("log", recording)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == log.read_bytes() != b""


def test_opening_a_file_writes_nothing(tmp_path: Path, recorded: Callable[..., Path]) -> None:
    """Opening and replaying a recording leaves no file behind but the log that is asked for."""
    path = recorded(init(), started("read", path="a"), result())
    commands: list[list[str | Path]] = [[path], ["replay", path], ["log", path], ["sessions"]]
    for words in commands:
        assert watch(*words, cwd=tmp_path).returncode == 0
    assert files(tmp_path) == {"case.ndjson"}
    assert watch(path, "--log", "0.log", cwd=tmp_path).returncode == 0
    assert watch("replay", path, "--log", "1.log", cwd=tmp_path).returncode == 0
    assert files(tmp_path) == {"case.ndjson", "0.log", "1.log"}
    assert (tmp_path / "0.log").read_bytes() == (tmp_path / "1.log").read_bytes() == watch("log", path).stdout


def test_the_log_is_the_text_with_times(recorded: Callable[..., Path]) -> None:
    """A log line is agent time and action; two # lines name the session and sum up the run."""
    path = recorded(
        init("/Users/user/project", model="Claude 4 Sonnet"),
        started("read", "a", 1, path="README.md"),
        completed("read", "a", {"success": {"totalLines": 54}}, 1795183387999),
        completed("write", "b", {"success": {"linesCreated": 19}}, path="summary.txt"),
        completed("shell", "c", {"failure": {"exitCode": 1}}, "1795183389000", command="pytest"),
        started("shell", "d", 1795183389000, command="sleep 600"),
        result(duration_ms=5234),
    )
    assert watch("log", path).stdout.decode().splitlines() == [
        "# session s-1 · Claude 4 Sonnet · /Users/user/project",
        "2026-11-20T14:03:07Z Read file README.md (54 lines)",
        "- Created new file summary.txt (19 lines)",
        "2026-11-20T14:03:09Z Ran terminal command pytest (failed: exit 1)",
        "- Ran terminal command sleep 600 (unfinished)",
        "# succeeded in 5.2 s · 4 calls, 1 failed",
    ]


def test_without_agent_time_the_log_has_seen_time(recorded: Callable[..., Path]) -> None:
    """A call whose line bears no time is logged at the time at which the line reached us."""
    first = init() + started("read", path="a")
    path = recorded(first, completed("read", result={"success": {}}), result())
    path.with_suffix(".times").write_text(f"0 1795183387000\n{len(first)} 1795183390500\n")
    assert b"\n2026-11-20T14:03:10Z Read file a\n" in watch("log", path).stdout


def test_the_log_of_two_runs_tells_both() -> None:
    """Each run has its two # lines, around its own calls."""
    lines = watch("log", RECORDINGS / "two-runs.ndjson").stdout.decode().splitlines()
    assert [re.sub(r"^\S+Z ", "", text) for text in lines] == [
        "# session 67bc5f3e-332b-4fcf-b469-00a80c0d7f40 · Auto · /home/ada/src/beacon",
        "Read file beacon.py (2 lines)",
        "# succeeded in 4.2 s · 1 call, 0 failed",
        "# session 67bc5f3e-332b-4fcf-b469-00a80c0d7f40 · Auto · /home/ada/src/beacon",
        "Edited file beacon.py (+1 -1)",
        "# succeeded in 4.1 s · 1 call, 0 failed",
    ]


def test_a_log_is_written_as_it_goes(tmp_path: Path) -> None:
    """While the pipe is still open, the calls that ended are in the log."""
    log = tmp_path / "l"
    argv = [*AGENTWATCH, "-p", "--log", str(log)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdin=pipe, stdout=pipe, env=environment(), start_new_session=True
    ) as program:
        assert program.stdin
        assert program.stdout
        program.stdin.write(init() + completed("read", "a", {"success": {}}, path="a"))
        program.stdin.flush()
        assert program.stdout.readline() == b"Read file a\n"
        while b"Read file a\n" not in log.read_bytes():
            assert program.poll() is None
        assert log.read_bytes().startswith(b"# session s-1")
        assert b"# succeeded" not in log.read_bytes()
        program.stdin.write(result())
        program.stdin.close()
        assert program.wait(20) == 0
    assert log.read_bytes().endswith(b"# succeeded in 5.2 s \xc2\xb7 1 call, 0 failed\n")


# --- all the rest ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["big.ndjson"], ["log", "big.ndjson"], ["big.ndjson", "--output-format", "stream-json"], ["-p", "-"]],
    ids=" ".join,
)
def test_a_reader_that_goes_away_leaves_no_traceback(tmp_path: Path, arguments: list[str]) -> None:
    """`agentwatch … | head -1` gives the first line, and not a word on stderr."""
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


def test_following_a_file_prints_what_is_appended(tmp_path: Path) -> None:
    """With -f a file is read on at its end, half lines when they are whole, until a signal."""
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


def test_a_replay_prints_what_the_file_prints() -> None:
    """A replay in print mode tells the same lines in the same order."""
    done = watch("replay", PLAIN, "--speed", "1000", "--max-idle", "0")
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)


def test_the_demo_needs_nothing() -> None:
    """The demo plays a bundled session to its end and succeeds."""
    done = watch("demo", "--speed", "1000", "--max-idle", "0")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 14


def test_sessions_are_listed_newest_first(home: Path) -> None:
    """Each saved session is listed with its time, outcome and prompt, and the newest is first."""
    assert watch("sessions").stdout == b""
    folder = home / "sessions"
    folder.mkdir(parents=True)
    for stem, path in (("20260102-030405-aaaaaa", FAILED), ("20261120-140307-bbbbbb", PLAIN)):
        (folder / f"{stem}.ndjson").write_bytes(path.read_bytes())
    (folder / "20260601-000000-cccccc.ndjson").write_bytes(init() + line({"type": "user", "message": {}}))
    done = watch("sessions")
    assert (done.returncode, done.stderr) == (0, b"")
    told = done.stdout.decode()
    stems = re.findall(r"(\d{8}-\d{6}-\w{6})\.ndjson", told)
    assert stems == ["20261120-140307-bbbbbb", "20260601-000000-cccccc", "20260102-030405-aaaaaa"]
    newest = told.partition("20261120-140307")[0]
    assert "2026-11-20 14:03:07" in newest
    assert "succeeded" in newest
    assert "Raise the request timeout in settings.py to 45 seconds." in newest
    assert "unfinished" in told
    assert "failed" in told


def test_a_listing_is_safe(home: Path) -> None:
    """A hostile prompt cannot drive the terminal that the sessions are listed on."""
    folder = home / "sessions"
    folder.mkdir(parents=True)
    (folder / "20260102-030405-aaaaaa.ndjson").write_bytes((RECORDINGS / "hostile.ndjson").read_bytes())
    told = watch("sessions").stdout.decode()
    assert len(told.splitlines()) == 2
    assert "\x1b" not in told


def test_no_output_of_hostile_text_drives_a_terminal() -> None:
    """Neither text nor log nor stderr of the hostile recording holds a control."""
    path = RECORDINGS / "hostile.ndjson"
    for done in (watch(path), watch("log", path), watch(path, "--output-format", "json")):
        assert done.stdout
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stderr.decode())
    for done in (watch(path), watch("log", path)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout.decode())
