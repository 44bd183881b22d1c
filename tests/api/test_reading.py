"""Events are read in order with their places, and followed until a session ends."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import agentwatch
from agentwatch.recording.store import create_file
from agentwatch.recording.write_lock import hold, release
from agentwatch.session.events import FormatDetected, Prompt, RunStarted, Text, ToolEnded, TurnEnded
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from tests.builders.lines import completed, delta, init, result, started, user
from tests.conftest import RECORDINGS, Saver, case

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


def test_a_place_is_the_line_of_its_event() -> None:
    """The bytes at the place of a call's end contain its id."""
    path = RECORDINGS / "parallel.ndjson"
    data = path.read_bytes()
    ended = [(event, place) for event, place in agentwatch.read(path) if isinstance(event, ToolEnded)]
    assert len(ended) == 3
    for event, place in ended:
        assert event.call_id.split("\n")[0].encode() in data[place.offset : place.offset + place.length]


def test_a_line_that_is_cut_is_read_at_the_end(recording: Saver) -> None:
    """The last line needs no line end, and a line of no known agent is an event too."""
    path = recording(b'{"what":1}\n', init(), user("Hi").rstrip(b"\n"))
    events = [event for event, _ in agentwatch.read(path)]
    assert [type(event).__name__ for event in events] == ["FormatDetected", "Unknown", "RunStarted", "Prompt"]


def test_nothing_is_read_after_the_end(recording: Saver) -> None:
    """A closed or exhausted iterator has no more events."""
    path = recording(init(), user("Hi"), result(""))
    events = agentwatch.read(path)
    next(events)
    events.close()
    assert list(events) == []
    events.close()
    with agentwatch.read(path) as others:
        assert list(others)
        assert list(others) == []


def test_following_waits_for_lines(recording: Saver) -> None:
    """Lines that are appended while a session is followed are events as soon as they are there."""
    path = recording(init())
    with path.open("ab", buffering=0) as file, agentwatch.follow(path, timeout=30) as events:
        assert [type(next(events).event) for _ in range(2)] == [FormatDetected, RunStarted]
        file.write(user("Hi"))
        assert isinstance(next(events).event, Prompt)
        later = threading.Timer(
            0.2,
            file.write,
            [
                delta("Hello"),
            ],
        )
        later.start()
        assert isinstance(next(events).event, Text)
        later.join()


def test_following_ends_after_a_timeout(recording: Saver) -> None:
    """Without a new line for the timeout, the session is read as if it had ended: its last half line too."""
    path = recording(init(), user("Hi").rstrip(b"\n"))
    events = [event for event, _ in agentwatch.follow(path, timeout=0.05)]
    assert isinstance(events[-1], Prompt)


def test_following_ends_when_the_file_is_truncated(recording: Saver) -> None:
    """A file that gets shorter ends the iterator."""
    path = recording(init(), user("Hi"))
    events = agentwatch.follow(path)
    for _ in range(3):
        next(events)
    os.truncate(path, 0)
    assert list(events) == []


def test_following_ends_with_the_writer(tmp_path: Path) -> None:
    """The recording of a pipe or of `agentwatch run` ends when it is complete."""
    path = tmp_path / "own.ndjson"
    fd = create_file(path)
    hold(fd)
    os.write(fd, init() + user("Hi"))
    events = agentwatch.follow(path)
    assert [type(next(events).event) for _ in range(3)] == [FormatDetected, RunStarted, Prompt]
    os.write(fd, result("Done."))
    release(fd)
    os.close(fd)
    assert isinstance([*events][-1].event, TurnEnded)


def test_a_call_is_seen_to_end(recording: Saver) -> None:
    """Both lines of a call are events, with the id that joins them."""
    path = recording(
        init(), started("shell", "c-1", command="make"), completed("shell", "c-1", {"success": {}})
    )
    calls = [
        event for event, _ in agentwatch.read(path) if isinstance(event, agentwatch.ToolStarted | ToolEnded)
    ]
    assert [event.call_id for event in calls] == ["c-1", "c-1"]
