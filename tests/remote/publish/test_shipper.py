"""The shipper against an engine in memory that misbehaves."""

import hashlib
import itertools
import os
from functools import partial
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentwatch.remote.chunk import CHUNK_BYTES, HEADER_BYTES, SEEN_PER_CHUNK, Ended
from agentwatch.remote.publish.recorded import TimesAhead
from agentwatch.remote.publish.shipper import Pace
from agentwatch.remote.publish.sidecar import Shipped, ShipState
from tests.remote.publish.conftest import Begin
from tests.remote.publish.memory import Bad, Engine, applied
from tests.remote.publish.world import SESSION, TO, World

PIECES = st.lists(
    st.one_of(
        st.binary(min_size=1, max_size=40),
        st.binary(min_size=1, max_size=20).map(lambda data: data + b"\n"),
        st.integers(1000, 90_000).map(lambda size: b"x" * size + b"\n"),
    ),
    max_size=12,
)
FAULTS = st.lists(st.one_of(st.none(), st.sampled_from([*Bad])), max_size=25)
names = itertools.count()


@pytest.mark.system
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=PIECES, faults=FAULTS)
@pytest.mark.slow
def test_any_faults_leave_a_prefix_and_then_the_whole(
    tmp_path: Path, pieces: list[bytes], faults: list[Bad | None]
) -> None:
    """Whatever the engine loses, refuses or forgets, a watcher has a prefix, and finally every byte."""
    engine = Engine([*faults])
    world = World(tmp_path, engine, f"s{next(names)}")
    world.writes = [*(partial(world.write, piece) for piece in pieces), world.end]
    whole = b"".join(pieces)
    engine.on_stored = lambda: check_prefix(whole.startswith(engine.read()))
    last = world.ship()
    world.close()
    assert engine.read() == whole
    assert engine.end == Ended(len(whole), None, hashlib.sha256(whole).hexdigest())
    assert (last.state, last.shipped, last.bytes) == (ShipState.DONE, len(whole), len(whole))
    noted = dict.fromkeys(pair for chunk in engine.chunks for pair in chunk.seen)
    times = [tuple(map(int, line.split())) for line in world.files.times.read_text().splitlines()]
    assert [*noted] == times


def check_prefix(is_prefix: bool) -> None:
    """Fail unless a watcher has a prefix of the recording."""
    assert is_prefix


def test_a_shipper_goes_on_where_the_engine_ends(
    world: World, engine: Engine, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shipper that begins again asks the engine, and sends nothing twice."""
    world.write(b"one\n")
    world.is_asked_to_end = lambda: world.now > 1003
    world.ship()
    world.write(b"two\n")
    world.end()
    world.is_asked_to_end = lambda: False
    world.ship(Shipped(TO, SESSION, shipped=999))
    assert [chunk.payload for chunk in engine.chunks] == [b"one\n", b"two\n"]
    # If the engine keeps nothing of the session any more, what was noted counts.
    world, engine = begin()
    world.write(b"one\ntwo\n")
    world.end()
    world.ship(Shipped(TO, SESSION, shipped=4))
    assert [(chunk.offset, chunk.payload) for chunk in engine.chunks] == [(4, b"two\n")]
    # Bytes that were stored a moment ago are not missing because of their age: they are sent again.
    world, engine = begin()
    world.write(b"one\n")
    world.is_asked_to_end = lambda: world.now > 1003
    before = world.ship()
    assert before.at_ms
    engine.pieces.clear()
    world.end()
    world.is_asked_to_end = lambda: False
    world.ship(before)
    assert engine.read() == b"one\n"
    # What another publisher stores in between is the same: the watcher has each byte once.
    world, engine = begin()
    world.write(b"one\n")

    def interfere() -> None:
        engine.on_stored = lambda: None
        engine.pieces.append((engine.newest_sequence + 100, engine.chunks[-1]))
        world.write(b"two\n")

    engine.on_stored = interfere
    world.writes = [*[lambda: None] * 30, world.end]
    assert world.ship().state is ShipState.DONE
    assert applied(engine.chunks) == b"one\ntwo\n"
    # `run` writes the exit code after the recording has ended; the end waits for it, but not long.
    world, engine = begin()
    described = {"command": ["x"], "pid": 4_000_000, "started_ms": 1, "exit_code": None}
    world.files.process.write_bytes(orjson.dumps(described))
    world.write(b"one\n")
    world.end()
    world.ship()
    assert engine.end is not None
    assert engine.end.exit_code is None
    engine.pieces.clear()
    world.writes = [
        *[lambda: None] * 8,
        lambda: world.files.process.write_bytes(orjson.dumps(described | {"exit_code": 3})),
    ]
    world.ship()
    assert engine.end is not None
    assert engine.end.exit_code == 3
    assert orjson.loads(engine.cards[-1])["exit"] == 3
    # What follows the last line end waits, until the line or the recording has ended.
    world, engine = begin()
    world.write(b"one\ntw")
    seen: list[bytes] = []
    world.writes = [*[lambda: None] * 20, lambda: seen.append(engine.read()), world.end]
    world.ship()
    assert seen == [b"one\n"]
    assert engine.read() == b"one\ntw"
    # A line of an image is not held back until its end.
    world, engine = begin()
    world.write(b"x" * (1 << 20))
    sent: list[int] = []
    world.writes = [
        *[lambda: None] * 5,
        lambda: sent.append(len(engine.read())),
        lambda: world.write(b"y"),
        *[lambda: None] * 10,
        lambda: sent.append(len(engine.read())),
        world.end,
    ]
    world.ship()
    assert sent == [0, (1 << 20) + 1]
    # With more than 512 arrival times, a chunk is shorter; its headers stay below 16 KiB.
    world, engine = begin()
    for number in range(3000):
        world.write(b"%d\n" % (number % 10))
    world.end()
    world.ship()
    assert engine.read() == world.content
    assert max(len(chunk.seen) for chunk in engine.chunks) == SEEN_PER_CHUNK
    sizes = [sum(len(f"{offset} {ms};") for offset, ms in chunk.seen) for chunk in engine.chunks]
    assert max(sizes) < HEADER_BYTES
    # `gap` lines are sent with the chunk in which they lie, also one at the end of the recording.
    world, engine = begin()
    world.write(b"one\n")
    os.write(world.times_fd, b"gap 4 100\n")
    world.write(b"two\n")
    os.write(world.times_fd, b"gap 8 5\n")
    world.end()
    world.ship()
    assert [gap for chunk in engine.chunks for gap in chunk.gaps] == [(4, 100), (8, 5)]
    # Where a round trip takes over 50 ms, a chunk has up to 256 KiB.
    world, engine = begin()
    monkeypatch.setattr("tests.remote.publish.memory.Sink.round_trip", 0.051)
    world.write(b"x" * 99 + b"\n")
    os.write(world.fd, (b"y" * 99 + b"\n") * 9000)
    world.end()
    world.ship()
    assert max(len(chunk.payload) for chunk in engine.chunks) == 4 * CHUNK_BYTES
    monkeypatch.setattr("tests.remote.publish.memory.Sink.round_trip", 0.049)
    engine.pieces.clear()
    world.ship()
    assert max(len(chunk.payload) for chunk in engine.chunks) == CHUNK_BYTES


def test_pauses_grow_to_five_seconds(world: World, engine: Engine, begin: Begin) -> None:
    """While the engine is away, it is tried after 50 ms, then ever later, at most every 5 s."""
    world.write(b"one\n")
    engine.is_away = True
    world.is_asked_to_end = lambda: world.now > 1600
    world.ship()
    assert 600 / 5 - 1 <= engine.opened <= 600 / 2.5 + 10
    engine.opened, world.now, world.is_asked_to_end = 0, 1000, lambda: world.now > 1000.2
    world.ship()
    assert engine.opened >= 2
    # After an absence of a minute, one of a moment is over soon.
    world, engine = begin()
    world.write(b"one\n")
    engine.is_away = True
    stored: list[float] = []

    def lose() -> None:
        engine.on_stored = lambda: stored.append(world.now)
        engine.lose_next()
        stored.append(world.now)
        world.write(b"two\n")

    world.writes = [*[lambda: None] * 20, engine.come_back, *[lambda: None] * 10, lose, *[lambda: None] * 20]
    world.is_asked_to_end = lambda: not world.writes
    world.ship()
    assert stored[0] - 1000 > 30
    assert stored[-1] - stored[0] < 1
    # In silence, a look each 250 ms is all that is done.
    world, engine = begin()
    world.write(b"line\n")
    looks: list[float] = []
    world.writes = [lambda: looks.append(world.now)] * 300
    world.is_asked_to_end = lambda: not world.writes
    world.ship()
    assert looks[-1] - looks[-100] == pytest.approx(99 / 4)


class Noted:
    """Lines that are written at given times, and when the engine has stored them."""

    def __init__(self, world: World, engine: Engine, times: list[float]) -> None:
        self._world, self._engine, self._times = world, engine, times
        self.late: list[float] = []
        """How long each line was on its way."""
        world.at.append((times[-1] + 1, world.end))
        world.at.extend((at, partial(world.write, b"line\n")) for at in times[::-1])
        engine.on_stored = self._note

    def _note(self) -> None:
        lines = self._engine.read().count(b"\n")
        self.late += [self._world.now - at for at in self._times[len(self.late) : lines]]


def test_a_burst_is_sent_line_by_line(world: World, engine: Engine, begin: Begin) -> None:
    """Lines that follow each other after 50 ms for 5 s are each sent within 20 ms, but for the first look."""
    noted = Noted(world, engine, [1030 + 0.05 * number for number in range(100)])
    world.ship()
    assert len(engine.chunks) >= 95
    assert max(noted.late[5:]) < 0.02
    # At 20 lines a second for minutes, four chunks a second are sent, and no line waits over 250 ms.
    world, engine = begin()
    noted = Noted(world, engine, [1030 + 0.05 * number for number in range(20 * 120)])
    world.ship()
    assert len(engine.chunks) <= 4 * 120 + 105
    assert max(noted.late) < 0.27
    assert engine.read() == world.content
    # After hours of silence no more than 100 chunks go at once.
    now = 0.0
    pace = Pace(lambda: now)
    now = 36_000.0
    sent = 0
    while not pace.joining():
        pace.note_sent()
        sent += 1
    assert sent == 100
    pace.hurry()
    assert not pace.joining()


@pytest.mark.system
@pytest.mark.parametrize(("silence", "most"), [(0.2, 0.03), (1, 0.07), (2, 0.13), (600, 0.26)])
def test_a_line_waits_for_a_twentieth_of_the_silence(
    world: World, engine: Engine, silence: float, most: float
) -> None:
    """A file that has just grown is looked at often; after a long silence, each 250 ms."""
    noted = Noted(world, engine, [1000.5 + (silence + 0.003) * number for number in range(5)])
    world.ship()
    assert max(noted.late[1:]) < most


ANY_LINE = st.one_of(
    st.binary(max_size=30),
    st.tuples(st.integers(0, 1 << 60), st.integers(0, 1 << 60)).map(lambda pair: b"%d %d" % pair),
    st.tuples(st.integers(0, 300), st.integers(0, 99)).map(lambda pair: b"gap %d %d" % pair),
    st.tuples(st.integers(0, 300), st.integers(0, 99)).map(lambda pair: b"%d %d" % pair),
)


def test_a_line_belongs_to_the_chunk_in_which_it_begins(tmp_path: Path) -> None:
    """Times of the next chunk stay; those of a chunk that is asked for again come again."""
    path = tmp_path / "times"
    path.write_bytes(b"0 1\n4 2\n8 3\ngap 8 7\n")
    times = TimesAhead(path)
    assert times.within(8).seen == times.within(8).seen == ((0, 1), (4, 2))
    times.start_at(8)
    assert times.within(12) == (12, ((8, 3),), ((8, 7),))
    times.start_at(4)
    assert times.within(8).seen == ((4, 2),)
    # Half a number is not a number.
    path.write_bytes(b"0 1\n4 2")
    times = TimesAhead(path)
    assert times.within(8).seen == ((0, 1),)
    path.write_bytes(b"0 1\n4 25\n")
    assert times.within(8).seen == ((0, 1), (4, 25))
    # A recording that has no times is sent without.
    noted = TimesAhead(tmp_path / "gone").within(100)
    assert (noted.end, noted.seen, noted.gaps) == (100, (), ())


@pytest.mark.system
@given(lines=st.lists(ANY_LINE, max_size=700), length=st.integers(1, 300))
def test_any_file_gives_headers_that_fit(tmp_path_factory: object, lines: list[bytes], length: int) -> None:
    """Whatever the file contains, chunks advance, and their headers have at most 512 lines and 16 KiB."""
    path = tmp_path_factory.mktemp("any") / "times"  # type: ignore[attr-defined]
    path.write_bytes(b"\n".join(lines) + b"\n")
    times, start, chunks = TimesAhead(path), 0, 0
    while start < 300:
        noted = times.within(start + length)
        assert start < noted.end <= start + length
        assert all(start <= offset < noted.end for offset, _ in (*noted.seen, *noted.gaps))
        assert len(noted.seen) + len(noted.gaps) <= SEEN_PER_CHUNK
        assert sum(len(f"{a} {b};") for a, b in (*noted.seen, *noted.gaps)) < HEADER_BYTES
        start, chunks = noted.end, chunks + 1
        times.start_at(start)
    assert chunks >= 300 / length
