"""Between a started agent and its recording is a relay: a pipe for the agent, a whole file for the user."""

import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.cli.printing import print_session
from agentwatch.feed.feed import Feed
from agentwatch.sources.agent import AgentSource
from agentwatch.sources.open import KeepOptions, agent_source
from tests.builders.gaps import fits
from tests.conftest import RECORDINGS
from tests.harness.fake_agent import command
from tests.harness.processes import is_alive, relay_of, until
from tests.harness.program import AGENTWATCH, environment, watch

DEMO = (RECORDINGS / "demo.ndjson").read_bytes()
PLAIN = RECORDINGS / "plain.ndjson"
LINES = PLAIN.read_bytes().splitlines(keepends=True)
PYTHON = f"{shlex.quote(sys.executable)} -c"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
WITHIN = pytest.mark.parametrize("seconds", [20, pytest.param(1, marks=pytest.mark.costs)])
"""In the stage `costs`, a fault is known within a second."""

pytestmark = pytest.mark.slow


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Callable[..., AgentSource]]:
    """Return a function that starts an agent which writes its recording in two halves.

    Between the halves, and before its end, it waits until the file `go` and then `end` exists.
    """
    sources = []

    def start(*, direct: bool = False) -> AgentSource:
        first, second = tmp_path / "first", tmp_path / "second"
        first.write_bytes(b"".join(LINES[:3]))
        second.write_bytes(b"".join(LINES[3:]))
        go, end = (f"while [ ! -e '{tmp_path}/{name}' ]; do sleep 0.01; done" for name in ("go", "end"))
        script = f"cat '{first}'; {go}; cat '{second}'; {end}"
        keep = KeepOptions(recording=tmp_path / "r.ndjson", write_log=False)
        sources.append(agent_source(["sh", "-c", script], keep, direct=direct))
        return sources[0]

    yield start
    for source in sources:
        source.stop()


@pytest.mark.system
@pytest.mark.parametrize(
    "again",
    [
        'echo "{}" > /dev/stdout',
        'echo "{}" > /dev/fd/1',
        f"{PYTHON} \"open('/dev/stdout', 'w').write('{{}}\\n')\"",
        'echo "{}" > /dev/stderr; echo "{}" | tee /dev/stderr',
        'exec > /dev/stdout; echo "{}"',
    ],
)
def test_an_agent_that_opens_its_output_again_loses_nothing(tmp_path: Path, again: str) -> None:
    """An agent that opens /dev/stdout or /dev/stderr again appends to what it has written, as in a pipe."""
    (tmp_path / "first").write_bytes(b"".join(LINES[:3]))
    (tmp_path / "second").write_bytes(b"".join(LINES[3:]))
    script = f"cat '{tmp_path}/first'; echo a note >&2; {again}; cat '{tmp_path}/second'"
    done = watch("run", "--record", tmp_path / "r.ndjson", "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.ndjson").read_bytes() == b"".join([*LINES[:3], b"{}\n", *LINES[3:]])
    more = b"{}\n{}\n" if "stderr" in again else b""
    assert (tmp_path / "r.stderr").read_bytes() == b"a note\n" + more


@WITHIN
@pytest.mark.parametrize("direct", [False, True])
def test_a_truncated_recording_is_reported(
    waiting: Callable[..., AgentSource],
    tmp_path: Path,
    direct: bool,
    seconds: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A recording that somebody truncates is a fault while the agent is silent, and exits with 74."""
    source = waiting(direct=direct)
    until(lambda: source.agent.size() == len(b"".join(LINES[:3])))
    os.truncate(tmp_path / "r.ndjson", len(LINES[0]) + 10)
    until(lambda: source.fault, seconds)
    (tmp_path / "go").touch()
    (tmp_path / "end").touch()
    assert print_session(source, Feed(source.reader), "summary") == 74
    message = "agentwatch: the recording is incomplete: another process has truncated the file\n"
    assert capfd.readouterr().err == message
    if not direct:
        assert (tmp_path / "r.ndjson").read_bytes() == b"".join([LINES[0], *LINES[3:]])
        assert fits(PLAIN.read_bytes(), tmp_path / "r.ndjson")


@pytest.mark.system
def test_an_agent_that_erases_its_recording_is_reported(tmp_path: Path) -> None:
    """With --direct, an agent that opens /dev/stdout again erases its recording, which exits with 74.

    It is noticed although the agent at once writes more than was there before.
    """
    noted = f"while [ ! -s '{tmp_path}/r.times' ]; do sleep 0.01; done"
    script = f"cat '{PLAIN}'; {noted}; echo > /dev/stdout; cat '{PLAIN}' '{PLAIN}'"
    done = watch("run", "--direct", "--record", tmp_path / "r.ndjson", "--", "sh", "-c", script)
    assert done.returncode == 74
    assert b"another process has truncated the file" in done.stderr


@LINUX
def test_a_relay_is_small_and_alone(waiting: Callable[..., AgentSource], tmp_path: Path) -> None:
    """The relay has under 10 MB, its own session, no terminal, no agent's folder, and a name."""
    source = waiting()
    until(source.agent.size)
    relay = Path(f"/proc/{relay_of(source)}")
    status = dict(line.split(":\t") for line in (relay / "status").read_text().splitlines())
    assert int(status["VmHWM"].split()[0]) < 10_000
    assert (relay / "comm").read_text() == "agentwatch-pipe\n"
    assert (relay / "cwd").readlink() == Path("/")
    assert os.getsid(relay_of(source)) == relay_of(source)
    held = [fd.readlink() for fd in (relay / "fd").iterdir()]
    assert all(str(path).startswith(("pipe:", str(tmp_path), "/dev/null")) for path in held)


@LINUX
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_a_relay_ignores_signals(
    waiting: Callable[..., AgentSource], tmp_path: Path, number: signal.Signals
) -> None:
    """A signal that ends a program does not end the relay, and it ends by itself after the agent."""
    source = waiting()
    until(source.agent.size)
    os.kill(relay_of(source), number)
    (tmp_path / "go").touch()
    (tmp_path / "end").touch()
    assert print_session(source, Feed(source.reader), "summary") == 0
    assert (tmp_path / "r.ndjson").read_bytes() == PLAIN.read_bytes()
    until(lambda: not is_alive(relay_of(source)))


@LINUX
@WITHIN
def test_a_killed_relay_costs_no_agent(
    waiting: Callable[..., AgentSource], tmp_path: Path, seconds: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """If the relay is killed, the monitor records in its place, from a whole line on, and the code is 74."""
    source = waiting()
    until(lambda: source.agent.size() == len(b"".join(LINES[:3])))
    os.kill(relay_of(source), signal.SIGKILL)
    until(lambda: source.fault, seconds)
    (tmp_path / "go").touch()
    (tmp_path / "end").touch()
    assert print_session(source, Feed(source.reader), "summary") == 74
    assert source.agent_exit_code == 0
    assert "the relay from the agent to the file was killed" in capfd.readouterr().err
    kept = (tmp_path / "r.ndjson").read_bytes().splitlines(keepends=True)
    assert kept == [*LINES[:3], *LINES[-len(kept) + 3 :]]
    assert len(kept) >= len(LINES) - 1


@pytest.mark.system
def test_arrival_times_survive_the_monitor(tmp_path: Path) -> None:
    """When the monitor is killed, the relay goes on with the recording and its arrival times."""
    path, go, lines = tmp_path / "r.ndjson", tmp_path / "go", DEMO.splitlines(keepends=True)
    halves = [tmp_path / "first.ndjson", tmp_path / "second.ndjson"]
    halves[0].write_bytes(b"".join(lines[:20]))
    halves[1].write_bytes(b"".join(lines[20:]))
    first, second = (shlex.join(command(half, "--pace", "600")) for half in halves)
    agent = ["sh", "-c", f"{first}; while [ ! -e '{go}' ]; do sleep 0.01; done; {second}"]
    argv = [*AGENTWATCH, "run", "--print", "--no-log", "--record", str(path), "--", *agent]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, env=environment(), start_new_session=True) as run:
        until(lambda: path.exists() and path.stat().st_size == halves[0].stat().st_size)
        run.kill()
    killed_at = path.stat().st_size
    go.touch()
    until(lambda: path.stat().st_size == len(DEMO))
    assert path.read_bytes() == DEMO
    noted = [int(line.split()[0]) for line in path.with_suffix(".times").read_text().splitlines()]
    assert noted == sorted(noted)
    assert sum(offset > killed_at for offset in noted) > 10


@pytest.mark.system
@pytest.mark.parametrize("is_refused", [False, True])
def test_a_pipe_that_cannot_be_enlarged_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    """Where the system has no F_SETPIPE_SZ, or refuses it, a pipe of 64 KiB does the same work."""

    def refuse(*_: object) -> None:
        raise PermissionError

    if is_refused:
        monkeypatch.setattr(fcntl, "fcntl", refuse)
    else:
        monkeypatch.delattr(fcntl, "F_SETPIPE_SZ", raising=False)
    keep = KeepOptions(recording=tmp_path / "r.ndjson", write_log=False)
    source = agent_source(command(RECORDINGS / "demo.ndjson", "--repeat", "10"), keep)
    monkeypatch.undo()
    assert print_session(source, Feed(source.reader), "stream-json") == 0
    assert (tmp_path / "r.ndjson").read_bytes() == DEMO * 10


def test_nothing_is_kept_with_no_record(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With --no-record the relay writes files without names."""
    source = agent_source(command(PLAIN), KeepOptions(record=False, write_log=False))
    assert print_session(source, Feed(source.reader), "stream-json") == 0
    assert capfd.readouterr().out.encode() == PLAIN.read_bytes()
    assert not home.exists()


@pytest.mark.system
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_burst_of_node_is_kept(tmp_path: Path) -> None:
    """A Node agent that writes 1 MB and calls process.exit at once loses nothing."""
    path = tmp_path / "r.ndjson"
    burst = "process.stdout.write('x'.repeat((1 << 20) - 1) + '\\n'); process.exit(0)"
    watch("run", "--record", path, "--", "node", "-e", burst)
    assert path.stat().st_size == 1 << 20
