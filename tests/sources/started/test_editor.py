"""An editor's session through `acp -- CMD`: no byte is changed or lost, whatever happens to the recorder."""

import json
import os
import random
import resource
import selectors
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

import pytest

from agentwatch.recording.store import SessionFiles
from agentwatch.sources.proc import pids, stat_of
from tests.conftest import ROOT, case
from tests.harness.processes import is_alive, is_ready, until
from tests.harness.program import AGENTWATCH, environment

pytestmark = pytest.mark.slow
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
ODD = b'\xff\xfe{"a":1}\r\n\x00\n\nhalf \xe2\x80\xa8 line'
CAT = (
    "import sys; sys.argv = ['agentwatch', 'acp', '--', 'cat']; from agentwatch.cli.start import main; main()"
)
AGENT = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "session/prompt":
        print(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": {
            "sessionId": "s", "toolCall": {"toolCallId": "c", "kind": "execute", "title": "rm -rf build"},
            "options": [{"optionId": "a", "name": "Allow", "kind": "allow_once"}]}}), flush=True)
    elif asked.get("method") == "session/new":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"sessionId": "s"}}), flush=True)
    elif asked["id"] == 7:
        print(json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}), flush=True)
"""


def editing(*command: str, **more: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Start an agent as an editor does, and end it."""
    return started(*AGENTWATCH, "acp", "--", *command, **more)


@contextmanager
def started(*argv: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process with pipes in a session of its own, and end it."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**more),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        stdin, stdout, stderr = pipes_of(process)
        with suppress(OSError):
            stdin.close()
        stdout.close()
        process.wait(20)
        stderr.close()


def pipes_of(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Return the pipes of an editor to and from `acp`."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def saved(home: Path) -> SessionFiles:
    """Return the files of the only saved session, once its recorder has ended."""

    def ended() -> SessionFiles | None:
        found = [*home.glob("sessions/*.json")]
        text = found[0].read_text() if found else ""
        is_over = bool(text and json.loads(text)["ended_ms"])
        return SessionFiles(found[0].with_suffix(".ndjson")) if is_over else None

    return until(ended)


def echoed(process: subprocess.Popen[bytes], data: bytes) -> bytes:
    """Send bytes to an agent that echoes them, close its stdin, and return what comes back."""
    stdin, stdout, _ = pipes_of(process)

    def send() -> None:
        with suppress(OSError):
            stdin.write(data)
            stdin.close()

    thread = threading.Thread(target=send)
    thread.start()
    back = stdout.read()
    thread.join()
    return back


def recorders_of(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the process ids of the recorders of an editor's session that have their own name by now."""
    named = [(pid, stat) for pid in pids() if (stat := stat_of(pid)) and stat.name == "agentwatch-acp"]
    return [pid for pid, stat in named if stat.parent == process.pid and is_alive(pid)]


def recorder_of(process: subprocess.Popen[bytes]) -> int:
    """Return the process id of the recorder of an editor's session, once it has its own name."""
    return until(lambda: recorders_of(process), what="a recorder")[0]


def have_bytes(home: Path, data: bytes) -> bool:
    """Return whether both directions of the only saved session have these bytes."""
    paths = (*home.glob("sessions/*.ndjson"), *home.glob("sessions/*.sent"))
    return [path.read_bytes() for path in paths] == [data, data]


def gaps(files: SessionFiles, prefix: str = "") -> int:
    """Return the number of bytes of a direction that are noted as missing."""
    lines = files.times.read_text().splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith(f"{prefix}gap "))


def test_acp_starts_without_the_command_line() -> None:
    """An editor waits for its agent: neither Textual nor the command line is loaded, nor a large module."""
    code = (
        f"import sys; sys.path.append({str(ROOT)!r}); import agentwatch.sources.editor; print(*sys.modules)"
    )
    argv = [sys.executable, "-I", "-S", "-c", code]
    loaded = set(subprocess.run(argv, capture_output=True, check=True, text=True, timeout=20).stdout.split())
    assert loaded.isdisjoint(
        {"textual", "click", "orjson", "typing", "re", "threading", "subprocess", "pathlib"}
    )


def test_both_directions_are_copied_and_recorded_byte_for_byte(home: Path) -> None:
    """The editor, the agent, `STEM.ndjson` and `STEM.sent` have the same bytes, whatever they are."""
    with editing("cat") as process:
        assert echoed(process, ODD) == ODD
        assert process.wait(20) == 0
    files = saved(home)
    assert (files.recording.read_bytes(), files.sent.read_bytes()) == (ODD, ODD)
    first, second = files.times.read_text().splitlines()
    assert first.startswith("sent 0 ")
    assert second.startswith("0 ")
    assert json.loads(files.process.read_text())["command"] == ["cat"]
    for path in (files.recording, files.sent, files.times, files.process):
        with case(path.suffix):
            assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.system
def test_a_question_of_the_agent_asks_in_the_list_until_the_editor_answers(home: Path) -> None:
    """The row is live: `asks` with the command, then `your turn`; later the log has the answer."""

    def row() -> dict[str, str]:
        argv = [*AGENTWATCH, "sessions", "--json"]
        done = subprocess.run(argv, capture_output=True, env=environment(), check=True, timeout=20)
        found: dict[str, str] = json.loads(done.stdout) if done.stdout else {}
        return found

    with editing(sys.executable, "-c", AGENT) as process:
        stdin, stdout, _ = pipes_of(process)

        def send(number: int, **fields: object) -> None:
            stdin.write(json.dumps({"jsonrpc": "2.0", "id": number} | fields).encode() + b"\n")
            stdin.flush()
            stdout.readline()

        params = {"sessionId": "s", "cwd": "/tmp", "prompt": [{"type": "text", "text": "Clean up"}]}
        send(1, method="session/new", params=params)
        send(2, method="session/prompt", params=params)
        asks = until(
            lambda: found if (found := row()).get("state") == "asks" else None, what="a row that asks"
        )
        assert asks["pid"]
        assert (asks["ground"], asks["now"], asks["title"]) == ("said", "execute rm -rf build", "Clean up")
        send(7, result={"outcome": {"outcome": "selected", "optionId": "a"}})
        until(lambda: row().get("state") == "your turn", what="a row whose turn is the user's")
    files = saved(home)
    argv = [*AGENTWATCH, "log", str(files.recording)]
    done = subprocess.run(argv, capture_output=True, env=environment(), check=True, timeout=20)
    assert b"asks: execute rm -rf build" in done.stdout
    assert b"allowed after" in done.stdout


@pytest.mark.system
def test_the_exit_code_is_that_of_the_agent(home: Path) -> None:
    """128 + n after signal n, as the recording says; 127 for no command, 126 for one that cannot run. A
    signal reaches the agent; `acp` may inherit that SIGCHLD is ignored.
    """
    codes = {"exit 3": 3, "kill -9 $$": 137, "exec 1>&-; exit 4": 4, "sleep 60 & exit 5": 5}
    for script, code in codes.items():
        folder = home / str(code)
        with case(script), editing("sh", "-c", script, AGENTWATCH_HOME=str(folder)) as process:
            assert process.wait(20) == code
            assert json.loads(saved(folder).process.read_text())["exit_code"] == code
    refused = (
        ("no-such-agent", 127, b"not found"),
        ("", 127, b"not found"),
        ("/etc/passwd", 126, b"not executable"),
    )
    for command, code, words in refused:
        with case(command), editing(command) as process:
            assert process.wait(20) == code
            assert words in pipes_of(process)[2].read()
    # The system would keep no exit code for an editor that ignores the end of its children.
    ignore = partial(signal.signal, signal.SIGCHLD, signal.SIG_IGN)
    argv = [*AGENTWATCH, "acp", "--", "sh", "-c", "exit 3"]
    done = subprocess.run(argv, preexec_fn=ignore, env=environment(), timeout=20, check=False)
    assert done.returncode == 3
    # TERM, INT and HUP reach the agent, whose exit code counts.
    for name in ("TERM", "INT", "HUP"):
        number = signal.Signals[f"SIG{name}"]
        script = f"trap 'echo got {name}; exit 9' {name}; echo ready; while :; do sleep 0.01; done"
        before = signal.signal(number, signal.SIG_DFL)  # a shell cannot trap what `nohup` ignores
        try:
            with case(name), editing("sh", "-c", script) as process:
                _, stdout, _ = pipes_of(process)
                assert stdout.readline() == b"ready\n"
                process.send_signal(number)
                assert stdout.read() == f"got {name}\n".encode()
                assert process.wait(20) == 9
        finally:
            signal.signal(number, before)


@pytest.mark.system
def test_systems_without_some_calls_copy_as_well(home: Path) -> None:
    """On macOS there are no larger pipes and, before Python 3.13, no `waitid`; a descriptor may be closed."""
    argv = [sys.executable, "-c", f"import fcntl, os; del fcntl.F_SETPIPE_SZ, os.waitid; {CAT}"]
    given = ODD * 50_000
    done = subprocess.run(argv, input=given, capture_output=True, env=environment(), timeout=20, check=False)
    assert (done.stdout, done.returncode) == (given, 0)
    assert saved(home).sent.read_bytes() == given
    words = shlex.join([*AGENTWATCH, "acp", "--", "sh", "-c", "echo x; exit 5"])
    argv = ["sh", "-c", f"exec {words} <&- 2>&-"]
    done = subprocess.run(argv, capture_output=True, env=environment(), timeout=20, check=False)
    assert (done.stdout, done.returncode) == (b"x\n", 5)


@pytest.mark.system
@LINUX
def test_what_an_editor_and_its_agent_share(home: Path) -> None:
    """It does not get the credentials of agentwatch, and a broken pipe ends it as usual. An empty pipe from
    the editor and a full one to it are waited for. The agent gets the end of stdin and a broken pipe; if
    `acp` is killed, its stdin ends as well.
    """
    more = {"AGENTWATCH_NATS_PASSWORD": "hidden", "EDITORS": "own"}
    with editing("sh", "-c", "env; grep SigIgn /proc/self/status", **more) as process:
        *variables, ignored = echoed(process, b"").decode().splitlines()
    assert "EDITORS=own" in variables
    assert not [each for each in variables if "hidden" in each]
    ignored_signals = int(ignored.split()[1], 16)
    assert not ignored_signals & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)
    # The pipes of an editor may not block.
    stdin_fd, to_fd = os.pipe()
    from_fd, stdout_fd = os.pipe()
    for fd in (stdin_fd, stdout_fd):
        os.set_blocking(fd, False)
    argv = [*AGENTWATCH, "acp", "--", "sh", "-c", "read line && head -c 3000000 /dev/zero"]
    with subprocess.Popen(argv, stdin=stdin_fd, stdout=stdout_fd, env=environment()) as other_process:
        recorder_of(other_process)
        os.write(to_fd, b"go\n")
        until(lambda: not is_ready(stdout_fd, event=selectors.EVENT_WRITE), what="a full pipe")
        for fd in (stdin_fd, to_fd, stdout_fd):
            os.close(fd)
        with open(from_fd, "rb") as back:
            assert back.read() == bytes(3_000_000)
    # The ends of both sides are passed on.
    with editing("sh", "-c", "cat >/dev/null; echo ended; exit 6") as last_process:
        assert echoed(last_process, b"x") == b"ended\n"
        assert last_process.wait(20) == 6
    with editing("sh", "-c", "trap '' PIPE; while echo x; do :; done 2>/dev/null; exit 7") as last_process:
        pipes_of(last_process)[1].close()
        assert last_process.wait(20) == 7
    with editing("sh", "-c", "exec >&-; cat >/dev/null") as last_process:
        stdout = pipes_of(last_process)[1]
        until(lambda: is_ready(stdout), what="the end of stdout while the agent runs")
        assert stdout.read() == b""
    with editing("sh", "-c", "exec <&-; echo closed; sleep 60") as last_process:
        stdin, stdout, _ = pipes_of(last_process)
        stdout.readline()

        def is_broken() -> bool:
            try:
                os.write(stdin.fileno(), b"x")
            except BrokenPipeError:
                return True
            return False

        until(is_broken, what="the broken pipe")
        last_process.terminate()
    with editing("sh", "-c", "echo $$; cat >/dev/null") as last_process:
        agent = int(pipes_of(last_process)[1].readline())
        last_process.kill()
        until(lambda: not is_alive(agent), what="the end of the agent")


@pytest.mark.system
def test_the_editor_works_without_a_recording(home: Path, tmp_path: Path) -> None:
    """A folder that cannot be created is reported on stderr, and the session is copied all the same."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    with editing("cat", AGENTWATCH_HOME=str(blocked)) as process:
        stdin, stdout, stderr = pipes_of(process)
        os.write(stdin.fileno(), b"one\n")
        assert os.read(stdout.fileno(), 99) == b"one\n"
        assert b"agentwatch: the session is not recorded: " in stderr.readline()
        assert echoed(process, b"two\n" * 100_000) == b"two\n" * 100_000
        assert process.wait(20) == 0
        assert stderr.read() == b""
    assert not home.exists()


@pytest.mark.system
@LINUX
def test_killing_the_recorder_changes_no_byte_and_is_noted(home: Path) -> None:
    """Another recorder continues; what it did not get is noted, and the recording has whole lines only."""
    lines = [b"%d %s\n" % (number, b"x" * random.Random(number).randrange(9_000)) for number in range(4_000)]
    with editing("cat") as process:
        killed: list[int] = []
        is_over = threading.Event()

        def kill() -> None:
            while not is_over.wait(random.Random(len(killed)).random() / 5):
                for pid in recorders_of(process):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)

        thread = threading.Thread(target=kill)
        thread.start()
        stdin, stdout, _ = (pipe.fileno() for pipe in pipes_of(process))

        def echo(sent: bytes) -> None:
            os.write(stdin, sent)
            back = b""
            while len(back) < len(sent):
                back += os.read(stdout, len(sent) - len(back))
            assert back == sent

        for start in range(0, len(lines), 4):
            echo(b"".join(lines[start : start + 4]))
            if start % 100 == 0:
                threading.Event().wait(0.01)
        until(lambda: killed, what="a recorder that was killed")
        is_over.set()
        thread.join()

        def has_recorder() -> bool:
            """Return whether a recorder runs; the next piece after a kill starts one."""
            lines.append(b"more\n")
            echo(lines[-1])
            return bool(recorders_of(process))

        until(lambda: not any(map(is_alive, killed)), what="the end of those that were killed")
        until(has_recorder, what="a recorder")
        assert echoed(process, b"last\n") == b"last\n"
        assert process.wait(20) == 0
    whole = [*lines, b"last\n"]
    files = saved(home)
    for path, prefix in ((files.recording, ""), (files.sent, "sent ")):
        with case(path.suffix):
            kept = path.read_bytes()
            assert set(kept.splitlines(keepends=True)) <= set(whole)
            assert len(kept) + gaps(files, prefix) == sum(map(len, whole))
            assert kept.endswith(b"last\n")


@pytest.mark.system
@LINUX
def test_a_recorder_that_is_killed_after_the_agent_has_exited_is_replaced(home: Path) -> None:
    """The recording has an end and notes what is missing, whether the pipe has room for the rest or not."""
    for size in (10, 5_000_000):
        folder, line = home / str(size), b"x" * (size - 1) + b"\n"
        with case(size), editing("sh", "-c", "cat; exit 3", AGENTWATCH_HOME=str(folder)) as process:
            stdin, stdout, stderr = pipes_of(process)
            os.write(stdin.fileno(), b"one\n")
            assert os.read(stdout.fileno(), 99) == b"one\n"
            recorder = recorder_of(process)
            until(partial(have_bytes, folder, b"one\n"), what="a recorded line")
            os.kill(recorder, signal.SIGSTOP)
            try:
                assert echoed(process, line) == line
                assert process.wait(20) == 3
                assert stderr.read() == b""
                with pytest.raises(ProcessLookupError):  # an editor may kill the group of its agent
                    os.killpg(process.pid, 0)
            finally:
                os.kill(recorder, signal.SIGKILL)
            files = saved(folder)
            assert json.loads(files.process.read_text())["exit_code"] == 3
            for path, prefix in ((files.recording, ""), (files.sent, "sent ")):
                assert path.read_bytes() == b"one\n"
                assert gaps(files, prefix) == size


@pytest.mark.system
def test_a_recorder_that_does_not_begin_is_started_once(home: Path, tmp_path: Path) -> None:
    """Whether its Python cannot start or is killed: the editor and the agent have every byte."""
    python, starts, given = tmp_path / "python", tmp_path / "starts", ODD * 50_000
    argv = [sys.executable, "-c", f"import sys; sys.executable = {str(python)!r}; {CAT}"]
    for end in ("exit 1", "kill -9 $$"):
        python.write_text(f"#!/bin/sh\necho >>'{starts}'\n{end}\n")
        python.chmod(0o700)
        starts.unlink(missing_ok=True)
        with case(end):
            done = subprocess.run(
                argv, input=given, capture_output=True, env=environment(), timeout=20, check=False
            )
            assert (done.stdout, done.returncode) == (given, 0)
            assert starts.read_text() == "\n"
    assert not home.exists()


@pytest.mark.system
@LINUX
def test_a_recorder_that_hangs_or_has_no_disk_is_not_waited_for(home: Path) -> None:
    """A flood of 150 MB passes a stopped recorder, and one whose disk is full; the gap is noted."""
    piece = b"y" * 99 + b"\n"
    flood = piece * 1_500_000
    with editing("cat") as process:
        recorder = recorder_of(process)
        os.kill(recorder, signal.SIGSTOP)
        try:
            assert echoed(process, flood) == flood
            assert process.wait(20) == 0
        finally:
            os.kill(recorder, signal.SIGCONT)
    files = saved(home)
    for each, prefix in ((files.recording, ""), (files.sent, "sent ")):
        with case(each.suffix):
            kept = each.read_bytes()
            assert kept == piece * (len(kept) // 100)
            assert len(kept) + gaps(files, prefix) == len(flood)
            assert len(kept) > 1_000_000
    assert gaps(files) or gaps(files, "sent ")
    with editing("cat") as process:
        limit = (1_000_000, resource.RLIM_INFINITY)
        resource.prlimit(recorder_of(process), resource.RLIMIT_FSIZE, limit)
        assert echoed(process, flood[:20_000_000]) == flood[:20_000_000]
        assert process.wait(20) == 0


@pytest.mark.system
@LINUX
def test_copies_that_were_kept_for_a_recorder_make_room_for_others(home: Path) -> None:
    """A recorder that hangs now and then, or is told to end, loses nothing below the limit."""
    code = f"import agentwatch.sources.editor as editor; editor._MOST_KEPT = 4 << 20; {CAT}"
    line = b"x" * 1_999_999 + b"\n"
    with started(sys.executable, "-c", code) as process:
        stdin, stdout, _ = pipes_of(process)
        recorder = recorder_of(process)
        os.kill(recorder, signal.SIGTERM)  # as to all processes below the editor
        for number in range(1, 4):
            os.kill(recorder, signal.SIGSTOP)
            thread = threading.Thread(target=stdin.write, args=(line,))
            thread.start()
            assert stdout.read(len(line)) == line
            thread.join()
            os.kill(recorder, signal.SIGCONT)
            until(partial(have_bytes, home, line * number), what="a recorded line")


@pytest.mark.system
def test_long_lines_and_floods_in_both_directions_pass(home: Path) -> None:
    """A line of 50 MB passes, and so does what an agent and an editor write at the same time."""
    line = b"z" * 50_000_000 + b"\n"
    with editing("cat") as process:
        assert echoed(process, line) == line
    files = saved(home)
    assert files.sent.stat().st_size == len(line)
    both = "import sys; sys.stdout.write('a' * 30_000_000); sys.stdout.flush(); print(len(sys.stdin.read()))"
    with editing(sys.executable, "-c", both) as process:
        assert echoed(process, b"b" * 3_000_000) == b"a" * 30_000_000 + b"3000000\n"
