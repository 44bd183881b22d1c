"""The action log: the text format with times, the same from a live run and from the recording."""

import os
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.feed.feed import Feed
from agentwatch.output import log
from agentwatch.output.log import ActionLog, LogWriter, follow_log
from agentwatch.recording.acts import Act, SessionActs, append_act
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import create_file
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.captures import OURS
from tests.builders.lines import completed, init, result, started
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment, watch


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "demo",
        *(
            pytest.param(name, marks=pytest.mark.system)
            for name in ("hostile", "malformed", "rejected", "two-runs", "unfinished")
        ),
    ],
)
def test_a_recorded_pipe_has_the_log_of_the_live_run(tmp_path: Path, name: str) -> None:
    """A recording equals the pipe byte for byte, and `--print --times` prints the log of the live run."""
    path = RECORDINGS / f"{name}.ndjson"
    recording, log = tmp_path / "r.ndjson", tmp_path / "r.log"
    live = watch("-p", "--record", recording, stdin=path.read_bytes())
    assert recording.read_bytes() == path.read_bytes()
    done = watch("-p", "--times", recording)
    assert (done.returncode, done.stderr) == (live.returncode, live.stderr)
    assert done.stdout == log.read_bytes() != b""


@pytest.mark.slow
@pytest.mark.system
def test_the_log_has_seen_times_and_both_runs(recording: Saver) -> None:
    """A call without an agent time is logged with its arrival time. Each run has its two `#` lines, around
    its own calls.
    """
    # With `--addresses`, each line of a call has its number; the other lines and the log are unchanged.
    path = recording(init(), started("read", "a"), completed("write", "b", {}), completed("read", "a", {}))
    plain, numbered = (watch("-p", "--times", *more, path).stdout.decode() for more in ((), ("--addresses",)))
    assert re.findall(r" #(\d+) ", numbered) == ["2", "1"]
    assert re.sub(r" #\d+ ", " ", numbered) == plain
    live = watch("-p", "--times", "-", stdin=path.read_bytes()).stdout.decode()
    assert re.sub(r"(?m)^\S+Z ", "- ", live) == plain  # a call gets the time of its arrival
    first = init() + started("read", path="a")
    path = recording(first, completed("read", result={"success": {}}), result())
    path.with_suffix(".times").write_text(f"0 1795183387000\n{len(first)} 1795183390500\n")
    assert b"\n2026-11-20T14:03:10Z Read file a\n" in watch("-p", "--times", path).stdout
    lines = watch("-p", "--times", RECORDINGS / "two-runs.ndjson").stdout.decode().splitlines()
    assert [re.sub(r"^\S+Z ", "", text) for text in lines] == [
        "# session 67bc5f3e-332b-4fcf-b469-00a80c0d7f40 · Auto · /home/ada/src/beacon",
        "Read file beacon.py (2 lines)",
        "# succeeded in 4.2 s · 1 call",
        "# session 67bc5f3e-332b-4fcf-b469-00a80c0d7f40 · Auto · /home/ada/src/beacon",
        "Edited file beacon.py (+1 -1)",
        "# succeeded in 4.1 s · 1 call",
    ]


@pytest.mark.slow
def test_the_log_is_the_text_with_times(recording: Saver) -> None:
    """A log line is the agent time and the action; two `#` lines name the session and sum up the run."""
    path = recording(
        init("/Users/user/project", model="Claude 4 Sonnet"),
        started("read", "a", 1, path="README.md"),
        completed("read", "a", {"success": {"totalLines": 54}}, 1795183387999),
        completed("write", "b", {"success": {"linesCreated": 19}}, path="summary.txt"),
        completed("shell", "c", {"failure": {"exitCode": 1}}, "1795183389000", command="pytest"),
        started("shell", "d", 1795183389000, command="sleep 600"),
        result(duration_ms=5234),
    )
    assert watch("-p", "--times", path).stdout.decode().splitlines() == [
        "# session s-1 · Claude 4 Sonnet · /Users/user/project",
        "2026-11-20T14:03:07Z Read file README.md (54 lines)",
        "- Created new file summary.txt (19 lines)",
        "2026-11-20T14:03:09Z Ran terminal command pytest (failed: exit 1)",
        "- Ran terminal command sleep 600 (unfinished)",
        "# succeeded in 5.2 s · 4 calls, 1 failed, 1 unfinished",
    ]
    # A log that is written line by line, as in a live run, is that of the whole recording.
    for path in [*sorted(RECORDINGS.glob("*.ndjson")), *OURS.find("**/*.ndjson", "**/*.jsonl")]:
        with case(path):
            feed = Feed(open_saved(path))
            log, lines = ActionLog(feed.session), list[str]()
            for events, place, count, pieces in feed.decoded():
                apply_line(feed.session, events, place, count, pieces)
                lines += log.new_lines(is_over=False)
            feed.advance()
            lines += log.new_lines(is_over=True)
            assert lines == [*follow_log(Feed(open_saved(path)))]


@pytest.mark.slow
def test_a_log_is_written_as_it_goes(tmp_path: Path) -> None:
    """While the pipe is still open, the log contains the calls that have ended."""
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
    assert log.read_bytes().endswith(b"# succeeded in 5.2 s \xc2\xb7 1 call\n")
    # An act that is appended while the pipe is open is in the live log where `log` prints it.
    recording, log = tmp_path / "r.ndjson", tmp_path / "r.log"
    argv = [*AGENTWATCH, "-p", "--record", str(recording)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdin=pipe, stdout=pipe, env=environment(), start_new_session=True
    ) as program:
        assert program.stdin
        program.stdin.write(init() + completed("read", "a", {"success": {}}, path="a"))
        program.stdin.flush()
        until(lambda: log.exists() and b"Read file a" in log.read_bytes())
        interrupt = act("interrupt", now_ms())
        append_act(tmp_path / "r.acts", interrupt)
        until(lambda: now_ms() > interrupt.at_ms)
        program.stdin.write(completed("read", "b", {"success": {}}, path="b") + result(duration_ms=1))
        program.stdin.close()
        program.wait(20)
    written = log.read_bytes()
    assert watch("-p", "--times", recording).stdout == written
    assert re.findall(rb"acted: \w+ \w+|Read file \w", written) == [
        b"Read file a",
        b"acted: interrupt sent",
        b"Read file b",
    ]


def act(name: str, at_ms: int, receipt: str = "sent") -> Act:
    return Act(at_ms, name, "s-1", "list", "SIGINT", receipt)


@pytest.mark.slow
def test_an_act_is_before_the_call_that_ends_after_it(recording: Saver) -> None:
    """The place of an act depends on the recording and the acts alone; those since its end come last."""
    lines = [
        *(init(), started("read", "a", path="a"), completed("read", "a", {"success": {}})),
        *(started("read", "b", path="b"), completed("read", "b", {"success": {}}), result(duration_ms=1)),
    ]
    path = recording(*lines)
    offsets = [sum(map(len, lines[:index])) for index in range(len(lines))]
    times = "".join(f"{at} {1_795_183_387_000 + 1000 * index}\n" for index, at in enumerate(offsets))
    path.with_suffix(".times").write_text(times)
    acts = [act("interrupt", 1_795_183_388_500), act("allow", 1_795_183_390_999, "elsewhere")]
    for each in [*acts, act("stop", 1_795_183_395_000, "unknown"), act("\x1b[2J", 1_795_183_395_001)]:
        append_act(path.with_suffix(".acts"), each)
    printed = watch("-p", "--times", path).stdout.decode().splitlines()
    assert [re.sub(r"^(# )?\S+Z ", "", each) for each in printed] == [
        "# session s-1 · Auto · /home/ada/app",
        "acted: interrupt sent · SIGINT · list",
        "Read file a",
        "acted: allow answered there · SIGINT · list",
        "Read file b",
        "# succeeded in 0.0 s · 2 calls",
        "acted: stop unconfirmed · SIGINT · list",
        "acted: ␛[2J sent · SIGINT · list",
    ]
    feed = Feed(open_saved(path))
    feed.acts_of = SessionActs.of_file(path)
    log, live = ActionLog(feed.session, (), lambda: feed.acts), list[str]()
    for events, place, count, pieces in feed.decoded():
        apply_line(feed.session, events, place, count, pieces)
        live += log.new_lines(is_over=False)
    feed.advance()
    assert [*live, *log.new_lines(is_over=True)] == printed
    # The reader of acts keeps only the newest ones. The log continues after the last act that it has.
    session, window = Session(), [*map(partial(act, "interrupt"), range(3))]
    log = ActionLog(session, (), lambda: window)
    assert len([*log.new_lines(is_over=True)]) == 3
    assert [*log.new_lines(is_over=True)] == []
    window = [*window[2:], act("stop", 3)]
    assert ["acted: stop" in each for each in log.new_lines(is_over=True)] == [True]
    window = [act("stop", 9)]
    assert len([*log.new_lines(is_over=True)]) == 1


FIRST = init() + completed("read", "a", {"success": {}}, path="a")
SECOND = started("read", "b", path="b") + completed("read", "b", {"success": {}}, path="b")


class Growing:
    """A recording that grows as a test says."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.is_over = False

    def size(self) -> int:
        """Return how many bytes there are."""
        return len(self.data)

    def has_ended(self) -> bool:
        """Return whether no more will come."""
        return self.is_over


class Case:
    """A growing recording, and its log."""

    def __init__(self, folder: Path, data: bytes) -> None:
        self._recording_fd = create_file(folder / "r.ndjson")
        self._folder = folder
        self._growing = Growing(b"")
        self.append(data)
        times = open_saved(folder / "r.ndjson").times
        reader = LineReader(self._recording_fd, self._growing, times)
        self.writer = LogWriter(reader, create_file(folder / "r.log"))

    def append(self, data: bytes, *, is_over: bool = False) -> None:
        """Let the recording grow."""
        os.write(self._recording_fd, data)
        self._growing.data += data
        self._growing.is_over = is_over

    @property
    def log(self) -> str:
        """What is logged by now."""
        return (self._folder / "r.log").read_text()

    @property
    def whole_log(self) -> str:
        """What `--print --times` prints of the recording."""
        return "".join(f"{line}\n" for line in follow_log(Feed(open_saved(self._folder / "r.ndjson"))))


@pytest.mark.parametrize("name", ["demo", "two-runs", "hostile", "unfinished"])
def test_the_thread_writes_what_the_command_prints(tmp_path: Path, name: str) -> None:
    """The log of a whole recording is what `--print --times` prints; the reader keeps its position."""
    reader = open_saved(RECORDINGS / f"{name}.ndjson")
    LogWriter(reader, create_file(tmp_path / "r.log")).finish()
    whole = "".join(f"{line}\n" for line in follow_log(Feed(reader)))
    assert (tmp_path / "r.log").read_text() == whole != ""


def test_the_log_follows_the_recording_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is logged as it arrives, though no screen reads; at the end no pause is waited for."""
    case_ = Case(tmp_path, FIRST)
    until(lambda: case_.log.endswith("Read file a\n"))
    case_.append(SECOND)
    until(lambda: case_.log.endswith("Read file b\n"))
    monkeypatch.setattr(log, "_IDLE_SECONDS", (3600.0,))
    monkeypatch.setattr(log, "_REST_SECONDS", 3600.0)
    case_.append(result(), is_over=True)
    case_.writer.finish()
    assert case_.log == case_.whole_log
    assert case_.log.endswith(" · 2 calls\n")
