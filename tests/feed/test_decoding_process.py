"""A large recording is decoded by another process, with the same session as without one."""

import fcntl
import json
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing.connection import Pipe, wait
from pathlib import Path

import pytest

from agentwatch.agents.registry import agent_named
from agentwatch.base import helper_process
from agentwatch.feed import decoding_process
from agentwatch.feed.checkpoints import NOT_PICKLED
from agentwatch.feed.decoding_process import DecodingProcess, decode_ahead, serve
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.session.events import Channel, Text
from tests.builders.helper_processes import are_over, helper_processes
from tests.builders.made_agent import MadeSession
from tests.builders.moment.session_facts import different, facts
from tests.builders.on_disk.transcript import said, user
from tests.conftest import RECORDINGS, ROOT, case

CAPTURES = ROOT / "tests" / "captures"
BYTES = 2_500_000
"""Four batches and a rest."""
WAIT_SECONDS = 60.0


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two cores, and no recording is too small. No process is left at the end, not even an ended one."""
    monkeypatch.setattr(decoding_process, "_LEAST_BYTES", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)
    started = helper_processes(monkeypatch)
    yield
    assert are_over(started)


def repeated(path: Path, *parts: Path) -> Path:
    """Write the lines of some recordings until they are large."""
    data = b"".join(part.read_bytes() for part in parts)
    path.write_bytes(data * (BYTES // len(data) + 1))
    return path


def opened(path: Path) -> tuple[Feed, History, LineReader]:
    """Return a feed that has read nothing yet, with its history and its reader."""
    reader = open_saved(path)
    feed = Feed(reader)
    return feed, History(feed, reader), reader


def read(feed: Feed) -> bool:
    """Read a feed to its end, and return whether a process has decoded a part of it."""
    ahead = feed.ahead
    while not feed.is_over:
        if isinstance(feed.ahead, DecodingProcess):
            assert wait([feed.ahead._helper.pipe], WAIT_SECONDS)
        feed.advance()
    return isinstance(ahead, DecodingProcess) and ahead._taken > 0


def same(path: Path, *, is_decoded: bool = True) -> None:
    """Read a recording with a process and without one, and compare the sessions and an earlier moment.
    `is_decoded`: the process decodes at least a part."""
    (one, past, reader), (other, other_past, other_reader) = opened(path), opened(path)
    decode_ahead(one)
    assert one.ahead is not None
    assert read(one) == is_decoded
    read(other)
    assert list(different(facts(one.session), facts(other.session))) == []
    assert (one.offset, one.session.lines.total) == (other.offset, other.session.lines.total)
    moment = past.timeline.aligned(one.offset // 2)
    assert (moment, past.timeline.ms_at(moment)) == (
        other_past.timeline.aligned(other.offset // 2),
        other_past.timeline.ms_at(moment),
    )
    assert past._checkpoints.offset_before(moment) > 0
    earlier, other_earlier = past.at(moment).session, other_past.at(moment).session
    assert list(different(facts(earlier), facts(other_earlier))) == []
    os.close(reader.fd)
    os.close(other_reader.fd)


def test_a_process_decodes_what_this_one_would(tmp_path: Path) -> None:
    """The session, its times and an earlier moment are the same, whatever has written the lines: also if one
    recording has those of several agents, split lines, blank lines and lines of no agent."""
    own = sorted(RECORDINGS.glob("*.ndjson"))
    others = sorted((CAPTURES / "disk" / "claude-transcript" / "own-2.1.330").glob("*.jsonl"))
    odd = tmp_path / "odd.ndjson"
    odd.write_bytes(b'\n{"type":"assistant","message":{"content":"one\n\ntwo"}}\n{"a":\n[1]\n\n')
    for name, parts in (("own", own), ("others", others), ("odd", [odd, own[0], others[0], odd, odd])):
        with case(name):
            same(repeated(tmp_path / f"{name}.ndjson", *parts))


def test_what_a_decoder_knows_goes_to_this_process(tmp_path: Path) -> None:
    """A request that the other process has counted does not count again in the rest, which it leaves."""
    counts = {"input_tokens": 1}
    answers = [
        said("x" * 9_000, uuid=f"u{n}", requestId=f"r{n}", message={"id": f"m{n}", "usage": counts})
        for n in range(450)
    ]
    path = tmp_path / "r.jsonl"
    lines = (user("Go", "u"), *answers, {**answers[0], "uuid": "again"})
    path.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in lines))
    feed, _, reader = opened(path)
    decode_ahead(feed)
    ahead = feed.ahead
    assert isinstance(ahead, DecodingProcess)
    assert read(feed)
    assert ahead._taken < path.stat().st_size
    assert feed.session.tokens.input == 450
    os.close(reader.fd)


def test_what_a_killed_process_has_not_sent_is_decoded_here(tmp_path: Path) -> None:
    """A process that is killed after its first part, or at once, costs only time."""
    path = repeated(tmp_path / "r.ndjson", *sorted(RECORDINGS.glob("*.ndjson")))
    expected, _, other_reader = opened(path)
    read(expected)
    for parts in (0, 1):
        with case(parts):
            feed, _, reader = opened(path)
            decode_ahead(feed)
            assert isinstance(feed.ahead, DecodingProcess)
            for _ in range(parts):
                assert wait([feed.ahead._helper.pipe], WAIT_SECONDS)
                assert feed.advance(0) > 0  # a line of the first part
            os.kill(feed.ahead._helper.process.pid, signal.SIGKILL)
            read(feed)
            assert feed.ahead is None
            assert list(different(facts(feed.session), facts(expected.session))) == []
            os.close(reader.fd)
    os.close(other_reader.fd)


@pytest.mark.system
def test_a_process_that_cannot_decode_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format that only this process has, and a program that ends at once: the lines are decoded here. A
    pipe of the usual size is enough."""
    path = repeated(tmp_path / "r.ndjson", RECORDINGS / "plain.ndjson")
    MadeSession([]).use(monkeypatch)
    reader = open_saved(path)
    feed = Feed(reader, agent_named("made-format"))
    assert feed.agent is not None
    decode_ahead(feed)
    assert not read(feed)
    assert feed.session.lines.total > 1000
    os.close(reader.fd)
    monkeypatch.delattr(fcntl, "F_SETPIPE_SZ", raising=False)
    same(path)
    monkeypatch.setattr(helper_process, "_START", "raise SystemExit(1)")
    same(path, is_decoded=False)


def test_a_process_is_started_only_if_it_is_worth_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording that is small or has arrival times, a machine with one core, and an interpreter that cannot
    be started: the lines are decoded here."""
    path = MadeSession([]).save(tmp_path / "r.ndjson")
    path.write_bytes((RECORDINGS / "plain.ndjson").read_bytes())
    path.with_suffix(".times").write_text("0 1000\n")
    feed, _, reader = opened(path)
    decode_ahead(feed)
    assert feed.ahead is None
    os.close(reader.fd)
    path.with_suffix(".times").unlink()
    for target, name, value in (
        (decoding_process, "_LEAST_BYTES", 1 << 20),
        (os, "sched_getaffinity", lambda _pid: {0}),
        (sys, "executable", "/no/python"),
        (sys, "executable", None),
    ):
        with monkeypatch.context() as patched, case(f"{name} {value}"):
            patched.setattr(target, name, value, raising=False)
            feed, _, reader = opened(path)
            decode_ahead(feed)
            assert feed.ahead is None
            read(feed)
            assert feed.session.lines.total == 14
            os.close(reader.fd)


def test_a_state_that_cannot_be_sent_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines before such a state wait for one that can be sent, up to a limit."""
    monkeypatch.setattr(decoding_process, "_MOST_BYTES", 1 << 20)
    made = MadeSession([Text(Channel.ANSWER, "word")])
    made.note = lambda: None  # type: ignore[attr-defined]
    made.use(monkeypatch)
    path = made.save(tmp_path / "r.ndjson")
    path.write_bytes(path.read_bytes() * (BYTES // path.stat().st_size))
    received, pipe = Pipe(duplex=False)
    with open(path, "rb") as file, received, pipe:
        with pytest.raises(NOT_PICKLED):
            serve(pipe, f"{file.fileno()}", f"{path.stat().st_size}", "made-format")
        assert not received.poll()
