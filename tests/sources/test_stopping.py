"""Only the thread that writes a recording ends it: what it has read is in the recording before that."""

import errno
import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.feed.feed import Feed
from agentwatch.output.log import LogWriter, follow_log
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import create_file, nameless_file
from agentwatch.recording.times import ArrivalTimes
from agentwatch.recording.write_lock import hold
from agentwatch.sources.agent_output import DirectOutput
from agentwatch.sources.pipe import PipeIntake, PipeSource
from agentwatch.sources.process import AgentProcess
from tests.builders.lines import completed, init
from tests.builders.machine.app import descriptors
from tests.conftest import RECORDINGS
from tests.harness.processes import until

LINES = init() + completed("read", "a", {"success": {}}, path="a")
INCOMPLETE = "the recording is incomplete: its end was not reached"


class Gate:
    """A place where a thread waits until it may pass."""

    def __init__(self) -> None:
        self.is_reached, self._is_open = threading.Event(), threading.Event()

    def pass_on(self) -> None:
        """Wait until the gate is open."""
        self.is_reached.set()
        assert self._is_open.wait(60)

    def open(self) -> None:
        """Let the thread pass, now and later."""
        self._is_open.set()


class HeldTimes(ArrivalTimes):
    """Arrival times that hold the reader of a pipe between a read and the append of its bytes."""

    def __init__(self, fd: int, gate: Gate) -> None:
        super().__init__(fd)
        self._gate = gate

    def note(self, offset: int, epoch_ms: int) -> None:
        """Wait, and record the time."""
        self._gate.pass_on()
        super().note(offset, epoch_ms)


class HeldOutput(DirectOutput):
    """The output of an agent that holds its reader before the size of the recording changes."""

    def __init__(self, gate: Gate, error: OSError | None) -> None:
        super().__init__(nameless_file(), nameless_file(), ArrivalTimes())
        self._gate, self._error = gate, error

    def advance(self) -> bool:
        """Wait, and read the size, or fail."""
        self._gate.pass_on()
        if self._error is not None:
            raise self._error
        return super().advance()


class Pipe(NamedTuple):
    """A pipe that is recorded."""

    source: PipeSource
    agent_fd: int
    gate: Gate
    recording: Path


def by_another_thread(call: Callable[[], object]) -> None:
    """Call a function in a thread, and wait for its end."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that is open after the test."""
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture
def pipe(tmp_path: Path, gate: Gate) -> Iterator[Pipe]:
    """A pipe whose reader waits at a gate with the bytes that it has read."""
    path, (source_fd, agent_fd) = tmp_path / "r.ndjson", os.pipe()
    recording_fd, times = create_file(path), HeldTimes(create_file(path.with_suffix(".times")), gate)
    intake = PipeIntake(source_fd, recording_fd, times)
    yield Pipe(PipeSource(LineReader(recording_fd, intake, times), intake), agent_fd, gate, path)
    intake.stop()
    gate.open()
    until(intake.has_ended)
    os.close(source_fd)
    os.close(agent_fd)


def test_bytes_that_were_read_are_recorded_before_the_end(pipe: Pipe) -> None:
    """A pipe that another thread stops ends after the bytes that its reader holds are in the recording."""
    growth = pipe.source.reader.growth
    os.write(pipe.agent_fd, LINES)
    assert pipe.gate.is_reached.wait(20)
    by_another_thread(pipe.source.stop)
    assert not growth.has_ended()
    assert pipe.source.is_live
    pipe.gate.open()
    until(growth.has_ended)
    assert growth.size() == len(LINES)
    assert pipe.recording.read_bytes() == LINES


def test_a_reader_that_hangs_is_not_waited_for(pipe: Pipe, tmp_path: Path) -> None:
    """While the reader of a stopped pipe hangs, finishing is bounded and reported; the log is not closed.

    Once the recording has ended, its log is what `--print --times` prints.
    """
    source, log = pipe.source, tmp_path / "r.log"
    source.written.log = LogWriter(source.reader, create_file(log))
    os.write(pipe.agent_fd, LINES)
    assert pipe.gate.is_reached.wait(20)
    source.stop()
    source.written.finish(0.1)
    assert source.new_faults() == [INCOMPLETE]
    assert log.read_bytes() == b""
    pipe.gate.open()
    source.finish()
    whole = "".join(f"{line}\n" for line in follow_log(Feed(open_saved(pipe.recording))))
    assert log.read_text() == whole
    assert whole.endswith("Read file a\n# unfinished · 1 call\n")


def test_a_silent_pipe_is_stopped(pipe: Pipe) -> None:
    """The reader of a pipe without bytes is woken: its recording ends, although the pipe is still open."""
    pipe.source.stop()
    pipe.source.finish()
    assert pipe.source.new_faults() == []
    assert pipe.recording.read_bytes() == b""


@pytest.mark.parametrize("error", [None, OSError(errno.EIO, "Input/output error")])
def test_the_size_of_a_left_recording_is_final(gate: Gate, error: OSError | None) -> None:
    """An agent that is left counts as left at once; its recording ends when the size changes no more.

    It also ends if the recording cannot be read any more.
    """
    output = HeldOutput(gate, error)
    agent = AgentProcess(["sh", "-c", "echo one; exec sleep 60"], output, output.stderr_fd)
    try:
        assert gate.is_reached.wait(20)
        until(lambda: os.fstat(output.stdout_fd).st_size == 4)
        assert agent.size() == 0
        by_another_thread(agent.leave)
        assert not agent.is_followed
        assert not agent.has_ended()
        gate.open()
        until(agent.has_ended)
        assert agent.size() == (4 if error is None else 0)
        assert agent.exit_code is None
        assert agent.fault is error
    finally:
        gate.open()
        os.killpg(agent.pid, signal.SIGKILL)
        agent._process.wait()


def stores() -> set[threading.Thread]:
    """Return the threads that read a store."""
    return {thread for thread in threading.enumerate() if thread.name == "store"}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_recording_is_closed_with_the_stderr_beside_it(tmp_path: Path) -> None:
    """Both files are closed, while the recording is still followed."""
    path = tmp_path / "session.ndjson"
    shutil.copy(RECORDINGS / "plain.ndjson", path)
    path.with_suffix(".stderr").write_text("a warning\n")
    described = {"command": ["agent"], "pid": 1, "started_ms": 1, "exit_code": None}
    path.with_suffix(".json").write_text(json.dumps(described))
    with path.open("ab") as writer:
        hold(writer.fileno())
        before = descriptors()
        source = saved_source(path, None)
        assert not source.reader.growth.has_ended()
        assert source.new_stderr() == ["a warning"]
        Feed(source.reader).advance()
        assert len(descriptors()) == len(before) + 2
        source.close()
        assert descriptors() == before
        assert source.reader.growth.has_ended()


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a session of Claude Code that may get subagents."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    path = tmp_path / "projects" / "-src" / "0f4c2b7e-1111-4222-8333-444455556666.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"type":"user","sessionId":"x","message":{"role":"user","content":"go on"}}\n')
    return path


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_store_is_closed_with_its_thread(claude: Path) -> None:
    """The thread that reads it has ended when `close` returns, and its files are closed."""
    before, others = descriptors(), stores()  # of earlier tests of this process
    source = saved_source(claude, None, follow_store=True)
    (thread,) = stores() - others
    Feed(source.reader).advance()
    source.close()
    assert not thread.is_alive()
    assert descriptors() == before
    # Without a thread, only the recording is left to close.
    source = saved_source(claude, False)
    assert stores() <= others
    source.close()
    assert descriptors() == before
