"""A checkpoint continues where it was taken; a decoder that cannot be serialised costs only time."""

import os
import sys
import threading
from pathlib import Path

import pytest

from agentwatch.agents import Decoder
from agentwatch.feed import checkpoints as taken
from agentwatch.feed.checkpoints import Checkpoints
from agentwatch.feed.history import History
from agentwatch.recording import lines as read
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.session.events import Channel, Event, Text
from agentwatch.session.session import Session
from agentwatch.session.storage import Spill
from tests.builders.lines import final, init, started, thought, user
from tests.builders.made_agent import MadeSession
from tests.builders.moment.any_recording import dense, fed_until, line_ends, with_history, written
from tests.builders.moment.session_facts import different, facts
from tests.conftest import ROOT, case

CAPTURES = ROOT / "tests" / "captures"


class Raising:
    """A value that cannot be restored."""

    def __reduce__(self) -> tuple[object, ...]:
        return int, ("not a number",)


def opened(path: Path) -> tuple[History, LineReader]:
    """Return the history of a recording that was read, and its reader."""
    reader = open_saved(path)
    feed, history = with_history(reader)
    feed.advance()
    return history, reader


def made(path: Path, monkeypatch: pytest.MonkeyPatch, state: object) -> tuple[History, LineReader]:
    """Return the history of a recording of an agent whose decoder has a state."""
    dense(monkeypatch)
    events: list[Event] = [Text(Channel.ANSWER, f"word {number} ") for number in range(200)]
    agent = MadeSession(events)
    agent.use(monkeypatch)
    agent.traits_of_a_plugin = state  # type: ignore[attr-defined]
    return opened(agent.save(path))


def test_only_a_state_that_can_be_serialised_has_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decoder with another state is read to the end from the start, and each moment is as it was."""
    for state in (threading.Lock(), lambda: None, (each for each in "words"), Raising()):
        with case(type(state).__name__):
            history, reader = made(tmp_path / "made.ndjson", monkeypatch, state)
            assert len(history.feed.session.text) > 1_000
            for moment in line_ends((tmp_path / "made.ndjson").read_bytes())[-2::-40]:
                expected = fed_until(reader, moment).session
                assert list(different(facts(history.at(moment).session), facts(expected))) == []
            assert history._checkpoints.offset_before(1 << 60) == 0
            os.close(reader.fd)
    history, reader = made(tmp_path / "made.ndjson", monkeypatch, ["words"])
    assert history._checkpoints.offset_before(1 << 60) > 1_000
    os.close(reader.fd)


def test_every_format_has_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of each built-in decoder can be serialised at every line of its captures, so that no moment
    of a large session is read from the start."""
    dense(monkeypatch)
    formats = set()
    for path in sorted(path for suffix in ("ndjson", "jsonl") for path in CAPTURES.rglob(f"*.{suffix}")):
        history, reader = opened(path)
        with case(str(path.relative_to(CAPTURES))):
            assert history._checkpoints._next < sys.maxsize
        formats.add(history.feed.session.format)
        os.close(reader.fd)
    assert len(formats) > 15


def test_a_lost_temporary_file_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the checkpoints cannot be read back, moments are decoded from the start."""
    dense(monkeypatch)
    data = b"".join([init(), user(), *(thought(f"word {number}") for number in range(100))])
    history, reader = opened(written(tmp_path / "lost.ndjson", data))
    lost = Spill()
    lost._fd, lost._written = os.open(os.devnull, os.O_RDONLY), 1 << 40
    assert history._checkpoints.offset_before(len(data)) > 1_000
    history._checkpoints._spill = lost
    moment = line_ends(data)[-3]
    assert list(different(facts(history.at(moment).session), facts(fed_until(reader, moment).session))) == []
    os.close(reader.fd)


def test_checkpoints_are_far_apart_if_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints of a state of 10 KB are at least 16 times as many bytes apart."""
    monkeypatch.setattr(taken, "_LEAST_BYTES", 100)
    session, decoder, checkpoints = Session(), Decoder(), Checkpoints()
    session.last_error = "x" * 10_000
    for offset in range(0, 1_000_000, 100):
        checkpoints.take(offset, session, decoder)
    assert len(checkpoints._offsets) <= 1_000_000 / 16 / 10_000 + 1


def test_the_disk_may_be_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a temporary file, the checkpoints stay in memory, and each moment is as it was."""
    dense(monkeypatch)

    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentwatch.session.storage._nameless_file", refuse)
    monkeypatch.setattr("agentwatch.session.storage._MOST_BYTES", 1_000)
    monkeypatch.setattr(read, "_READ_BYTES", 700)
    calls = (started("shell", f"c-{number}", command=f"make {number}") for number in range(50))
    data = b"".join([init(), user(), *calls, final("Done.")])
    history, reader = opened(written(tmp_path / "full.ndjson", data))
    moments = line_ends(data)[-2::-7]
    assert len(moments) == 8
    for moment in moments:
        expected = fed_until(reader, moment).session
        assert list(different(facts(history.at(moment).session), facts(expected))) == []
    os.close(reader.fd)
