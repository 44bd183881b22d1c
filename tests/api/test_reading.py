"""Sessions are opened, read and followed by the Python API."""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import agentwatch
from agentwatch.agents.session_entry import Reach
from agentwatch.catalog.places import Places
from agentwatch.recording.store import create_file
from agentwatch.recording.write_lock import hold, release
from agentwatch.session.events import FormatDetected, Prompt, RunStarted, Text, ToolEnded, TurnEnded
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from tests.builders.captures import OURS
from tests.builders.lines import completed, delta, init, result, started, user
from tests.builders.machine.fake import fake_machine
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.program import watch

EVERY = sorted(RECORDINGS.glob("*.ndjson"))


def test_the_events_are_those_of_the_loaded_session() -> None:
    """A session to which the events that are read are applied has the same calls and texts."""
    assert EVERY
    for path in EVERY:
        with case(path):
            built, loaded = Session(), agentwatch.load(path)
            for event, place in agentwatch.read(path):
                apply_line(built, [event], place)
            close_session(built)
            assert built.text == loaded.text
            assert [*built.calls] == [*loaded.calls]
            assert [run.outcome for run in built.runs] == [run.outcome for run in loaded.runs]


def test_following_waits_for_lines(recording: Saver) -> None:
    """Lines that are appended while a session is followed are events as soon as they are there."""
    path = recording(init())
    with path.open("ab", buffering=0) as file, agentwatch.follow(path, timeout=30) as events:
        assert [type(next(events).event) for _ in range(2)] == [FormatDetected, RunStarted]
        file.write(user("Hi"))
        assert isinstance(next(events).event, Prompt)
        later = threading.Timer(0.2, file.write, [delta("Hello")])
        later.start()
        assert isinstance(next(events).event, Text)
        later.join()


def test_following_ends(recording: Saver, tmp_path: Path) -> None:
    """Without a new line for the timeout, when the file gets shorter, and when the recording of a pipe is
    complete.
    """
    path = recording(init(), user("Hi").rstrip(b"\n"))
    events = [event for event, _ in agentwatch.follow(path, timeout=0.05)]
    assert isinstance(events[-1], Prompt)
    path = recording(init(), user("Hi"))
    other_events = agentwatch.follow(path)
    for _ in range(3):
        next(other_events)
    os.truncate(path, 0)
    assert list(other_events) == []
    path = tmp_path / "own.ndjson"
    fd = create_file(path)
    hold(fd)
    os.write(fd, init() + user("Hi"))
    reported = agentwatch.follow(path)
    assert [type(next(reported).event) for _ in range(3)] == [FormatDetected, RunStarted, Prompt]
    os.write(fd, result("Done."))
    release(fd)
    os.close(fd)
    assert isinstance([*reported][-1].event, TurnEnded)


def test_nothing_is_read_after_the_end(recording: Saver) -> None:
    """Both lines of a call are events, and the last line needs no line end."""
    # The last line needs no line end; a closed or exhausted iterator has no more. The bytes at the place
    # of a call's end contain its id.
    path = recording(b'{"what":1}\n', init(), user("Hi").rstrip(b"\n"))
    events = [event for event, _ in agentwatch.read(path)]
    assert [type(event).__name__ for event in events] == ["FormatDetected", "Unknown", "RunStarted", "Prompt"]
    path = recording(init(), user("Hi"), result(""))
    reported = agentwatch.read(path)
    next(reported)
    reported.close()
    assert list(reported) == []
    reported.close()
    with agentwatch.read(path) as others:
        assert list(others)
        assert list(others) == []
    path = RECORDINGS / "parallel.ndjson"
    data = path.read_bytes()
    ended = [(event, place) for event, place in agentwatch.read(path) if isinstance(event, ToolEnded)]
    assert len(ended) == 3
    for event, place in ended:
        assert event.call_id.split("\n")[0].encode() in data[place.offset : place.offset + place.length]
    # Both lines of a call are events, with the id that joins them.
    path = recording(
        init(), started("shell", "c-1", command="make"), completed("shell", "c-1", {"success": {}})
    )
    calls = [
        event for event, _ in agentwatch.read(path) if isinstance(event, agentwatch.ToolStarted | ToolEnded)
    ]
    assert [event.call_id for event in calls] == ["c-1", "c-1"]


PLAIN = RECORDINGS / "plain.ndjson"


def open_files() -> int:
    """Return the number of open descriptors of this process."""
    return len(os.listdir("/dev/fd"))


def test_a_session_is_found_by_its_id(home: Path) -> None:
    """The id of a session, the stem of its recording, and the beginning of either open it; a `Path` names a
    file. What only the command line can read is a fault.
    """
    path = home / "sessions" / "20261122-120000-000abcdef.ndjson"
    path.parent.mkdir(parents=True)
    path.write_bytes(init(session_id="573e587b-1111-4222-8333-444455556666") + user("Hi") + result(""))
    for name in ("573e587b-1111-4222-8333-444455556666", "573e58", path.stem, path.stem[:15]):
        assert agentwatch.load(name).run.prompt == "Hi"
    with pytest.raises(agentwatch.Fault, match="no such file"):
        agentwatch.load(Path(path.stem))
    assert agentwatch.summary(str(PLAIN)) == agentwatch.summary(PLAIN)
    for address in ("nats://team/ci.0f3a", "ssh://build1/20261122-120000-000abcdef"):
        for function in (agentwatch.read, agentwatch.follow, agentwatch.load, agentwatch.summary):
            with case(f"{function.__name__} {address}"), pytest.raises(agentwatch.Fault) as raised:
                function(address)
            assert str(raised.value).startswith(f"{address}: a session of another machine; ")


@pytest.mark.parametrize(
    "function", [agentwatch.read, agentwatch.follow, agentwatch.load, agentwatch.summary]
)
def test_what_cannot_be_opened_is_a_fault(function: Callable[[Path], object], tmp_path: Path) -> None:
    """A missing file, a folder and one JSON document raise `Fault` at once, with a reason in one line and the
    `OSError` as its cause.
    """
    document = tmp_path / "one.json"
    document.write_text('{\n  "a": 1\n}\n')
    before = open_files()
    for path, words in (
        (tmp_path / "missing", "no such file or directory"),
        (tmp_path, "it is a folder"),
        (document, "is one JSON document, not one JSON object per line"),
    ):
        with pytest.raises(agentwatch.Fault, match=words) as raised:
            function(path)
        assert "\n" not in str(raised.value)
        assert isinstance(raised.value.__cause__, FileNotFoundError) is (path.name == "missing")
    assert open_files() == before


def test_no_file_stays_open(tmp_path: Path) -> None:
    """200 sessions that are loaded, summarised or read leave no descriptor open; the file of a large session
    is closed with it.
    """
    before = open_files()
    for _ in range(50):
        agentwatch.load(PLAIN)
        agentwatch.summary(PLAIN)
        assert list(agentwatch.read(PLAIN))
        next(agentwatch.read(PLAIN))
        agentwatch.read(PLAIN)
    assert open_files() == before
    path = tmp_path / "large.ndjson"
    path.write_bytes(init() + b"".join(user("x" * 5_000) for _ in range(1_000)) + result(""))
    before = open_files()
    session = agentwatch.load(path)
    assert open_files() > before
    del session
    assert open_files() == before


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/fd lists the descriptors")
def test_a_session_that_is_dropped_midway_is_closed() -> None:
    """An iterator that nothing refers to any more closes its file without a garbage collection."""
    before = open_files()
    events = agentwatch.read(PLAIN)
    next(events)
    assert open_files() == before + 1
    del events
    assert open_files() == before


def check_summary(path: Path) -> None:
    """Check that the summary of a recording is that of the command line."""
    with case(path):
        done = watch(str(path), "--print", "--output-format", "summary")
        assert agentwatch.summary(path) == json.loads(done.stdout)


@pytest.mark.slow
def test_the_summary_is_that_of_the_command_line() -> None:
    """`summary` returns what `--output-format summary` prints."""
    check_summary(RECORDINGS / "demo.ndjson")


@pytest.mark.system
def test_each_summary_is_that_of_the_command_line() -> None:
    """The same holds for each bundled recording."""
    for path in EVERY:
        check_summary(path)


def test_a_loaded_session_is_over(recording: Saver) -> None:
    """Calls that never ended are unfinished. A file that no known agent wrote is a fault; one without lines
    is loaded.
    """
    session = agentwatch.load(RECORDINGS / "unfinished.ndjson")
    assert session.is_closed
    assert session.outcome is agentwatch.Outcome.UNFINISHED
    assert agentwatch.Outcome.UNFINISHED in {call.outcome for call in session.calls}
    for lines in ((b'{"level":"info"}\n', b"plain text\n"), (b"plain text\n",), (b"[]\n",)):
        with case(lines):
            path = recording(*lines)
            for function in (agentwatch.load, agentwatch.summary):
                with pytest.raises(agentwatch.Fault, match=f"^{path}: not a stream of an agent"):
                    function(path)
    session, found = agentwatch.load(recording(b"")), agentwatch.summary(recording(b""))
    assert (session.format, session.outcome, len(session.calls)) == (None, agentwatch.Outcome.UNFINISHED, 0)
    assert (found["format"], found["outcome"], found["calls"]) == (None, "unfinished", [])


def test_the_api_describes_itself(recording: Saver) -> None:
    """A session and a call are one line and have facts only, no methods. `load`, `summary` and the last
    `TurnEnded` of `read` give one outcome; without an end it is unfinished.
    """
    session = agentwatch.load(RECORDINGS / "failures.ndjson")
    assert repr(session) == "<Session of cursor: succeeded, 6 calls, 6 failed>"
    assert repr(session.calls[0]) == "<Call #1 shell 'make lint': failed ('exit 2'), 2.3 s>"
    hostile = "\x1b[31m\u202e" + "x" * 10_000_000
    path = recording(init(), started("a", "shell", command=hostile))
    shown = repr(agentwatch.load(path).calls[0])
    assert len(shown) < 200
    assert shown.isprintable()
    public = {name for name in dir(agentwatch.Session) if not name.startswith("_")}
    verdict = {"outcome", "outcome_words", "result_outcome"}
    assert public == {"duration_ms", *verdict, "phase", "run", "text", "tokens", "turns"}
    for kind in (agentwatch.Session, agentwatch.Call):
        assert [name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))] == []
    paths = [*OURS.find("**/*.ndjson"), *OURS.find("**/*.jsonl")]
    for path in (path for path in paths if path.stat().st_size):
        with case(path):
            found, outcome = agentwatch.summary(path), agentwatch.load(path).outcome
            ends = [event.outcome for event, _ in agentwatch.read(path) if isinstance(event, TurnEnded)]
            assert {*ends} <= {"succeeded", "failed", "cancelled"}
            assert type(outcome) is agentwatch.Outcome
            assert outcome == found["outcome"] in (*ends[-1:], "unfinished")


def test_the_sessions_of_all_agents_are_loaded(tmp_path: Path) -> None:
    """What agents keep on disk is loaded, with the calls of subagents."""
    # A transcript of Claude Code is loaded with the calls of its subagents.
    for path in OURS.find("disk/claude-transcript/**/subagents/*.jsonl"):
        with case(path):
            session = agentwatch.load(path.parent.parent.with_suffix(".jsonl"))
            assert any(call.parent_call is not None for call in session.calls)
    # What agents keep on disk is loaded: lines, JSON documents and rows of a database.
    machine = fake_machine(tmp_path)
    found = Places(machine.environ, machine.home, os.geteuid()).first()
    paths = [each.path for batch in found for each in batch if each.reach is not Reach.LISTED]
    formats = {agentwatch.load(path).format for path in paths}
    assert formats >= {"claude-transcript", "codex-rollout", "copilot", "cursor", "cursor-transcript"}
    assert formats >= {"gemini-chat", "opencode", "pi-session", "qwen-chat"}
    assert {path.suffix for path in paths} >= {".jsonl", ".json"}
    assert any(path.parent.suffix == ".db" for path in paths)
