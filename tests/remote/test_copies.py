"""The folder of copies finds a copy again, and stays small."""

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.recording.times import SavedTimes
from agentwatch.remote.chunk import LARGEST_NUMBER, MESSAGE_BYTES, Chunk, Ended
from agentwatch.remote.copies import Copies, Limits, LocalCopy, Rule, Step, used_copy
from tests.conftest import case

ADDRESS = "nats://team"


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    """Return copies without limits that a test reaches."""
    return Copies({"AGENTWATCH_HOME": str(tmp_path)}, Limits(free=0))


def ended(copies: Copies, session: str, content: bytes = b"{}\n") -> Path:
    """Make a complete copy that nobody uses."""
    copy = copies.create(ADDRESS, session)
    assert copy.hold()
    copy.begin_at(0)
    copy.append(content, [(0, 1000)], [])
    copy.note(copy.origin._replace(is_complete=True, sha256=copy.digest().hexdigest()))
    copy.close()
    return copy.path


def origin_with(**other: str | None) -> bytes:
    """Return the origin of `ci.1` with other texts; None is left out."""
    texts = {"address": ADDRESS, "session": "ci.1", "sha256": "0" * 64, "host": "h", **other}
    return json.dumps({name: text for name, text in texts.items() if text is not None}).encode()


def test_one_process_at_a_time_fills_a_copy(copies: Copies, tmp_path: Path) -> None:
    """The second one that uses a copy cannot fill it until the first one stops."""
    first = copies.create(ADDRESS, "ci.1")
    assert first.hold()
    first.begin_at(0)
    first.append(b"{}\n", [], [])
    second = copies.find(ADDRESS, "ci.1")
    assert second is not None
    assert not second.hold()
    first.release()
    assert second.hold()
    assert second.have == 3
    second.close()
    first.close()
    # A line of times that was cut short is removed, and times that are known are not written again.
    path = ended(copies, "ci.2")
    times = path.with_suffix(".times")
    times.write_bytes(b"0 1000\n3 20")
    copy = used_copy(path)
    assert copy is not None
    assert copy.hold()
    copy.append(b"{}\n", [(0, 1000), (3, 2000)], [])
    assert times.read_bytes() == b"0 1000\n3 2000\n"
    copy.close()
    # If the copy has a second name, it is not filled.
    path = ended(copies, "ci.3")
    os.link(path, tmp_path / "second")
    copy = used_copy(path)
    assert copy is not None
    with pytest.raises(OSError, match="linked"):
        copy.hold()
    copy.close()


def test_the_oldest_copies_that_nobody_uses_are_removed(copies: Copies) -> None:
    """If the copies take too much, the oldest are removed with all their files; one in use is kept."""
    # Copies do not grow when too little of the disk would be left.
    full = Copies({"AGENTWATCH_HOME": str(copies.folder.parent)}, Limits(free=1 << 60))
    assert not full.has_room(1)
    assert copies.has_room(1)
    paths = [ended(copies, f"ci.{number}", b"x" * 1000) for number in range(4)]
    oldest = sorted(paths)
    paths[0].with_suffix(".bookmarks.json").write_bytes(b"x")
    used = used_copy(oldest[0])
    assert isinstance(used, LocalCopy)
    small = Copies({"AGENTWATCH_HOME": str(copies.folder.parent)}, Limits(all=2500, free=0))
    assert small.has_room(0)
    assert sorted(path for path in paths if path.exists()) == [oldest[0], oldest[3]]
    assert {each.name.partition(".")[0] for each in copies.folder.iterdir()} == {
        oldest[0].stem,
        oldest[3].stem,
    }
    assert not small.has_room(2000)
    assert oldest[0].exists()
    used.close()


def test_a_copy_is_found_again_by_its_session(copies: Copies, tmp_path: Path) -> None:
    """A copy is found by the engine and the session, and by nothing else; its files are private."""
    # A copy that has got no byte leaves no files.
    copies.create(ADDRESS, "ci.1").close()
    assert list(copies.folder.iterdir()) == []
    # A copy whose origin contains anything else is not found, and harms no other.
    for content in (
        b"",
        b"{",
        b"[]",
        b'{"address":1,"session":[]}',
        b'{"address":"a"}',
        origin_with(sha256=None),
        origin_with(host="h" * 81),
        origin_with(address=ADDRESS + "x" * 400),
        b"\xff" * 5000,
        b"9" * 2048,
    ):
        with case(f"{content[:60]!r}"):
            path = ended(copies, "ci.1")
            path.with_suffix(".origin").write_bytes(content)
            assert copies.find(ADDRESS, "ci.1") is None
            assert copies.known() == []
            assert used_copy(path) is None
    path.with_suffix(".origin").write_bytes(origin_with())
    used = used_copy(path)
    assert used is not None
    used.close()
    path.with_suffix(".origin").write_bytes(b"")
    path = ended(copies, "ci.1")
    found = copies.find(ADDRESS, "ci.1")
    assert found is not None
    assert (found.path, found.have, found.origin.is_complete) == (path, 3, True)
    found.close()
    assert copies.find(ADDRESS, "ci.2") is None
    assert copies.find("nats://other", "ci.1") is None
    # The folder and all files of a copy are private, and their names say nothing of the session.
    path = ended(copies, "ci.secret")
    assert stat.S_IMODE(copies.folder.stat().st_mode) == 0o700
    for each in copies.folder.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
        assert "secret" not in each.name
    assert path.suffix == ".ndjson"
    # A copy or an origin that was replaced by a link is not used.
    path = ended(copies, "ci.3")
    other = tmp_path / "other"
    path.rename(other)
    path.symlink_to(other)
    assert copies.find(ADDRESS, "ci.3") is None
    path.unlink()
    other.rename(path)
    origin = path.with_suffix(".origin")
    origin.rename(other)
    origin.symlink_to(other)
    assert copies.find(ADDRESS, "ci.3") is None


LINES = b"".join(b'{"line":%d}\n' % number for number in range(40))
DIGEST = hashlib.sha256(LINES).hexdigest()
MOST = 1 << 20


@contextmanager
def filled() -> Iterator[tuple[LocalCopy, Rule]]:
    """Yield an empty copy that this process fills, and the rule for it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Copies({"AGENTWATCH_HOME": folder}).create("nats://team", "ci.0")
        assert copy.hold()
        try:
            yield copy, Rule(copy, MOST)
        finally:
            copy.close()


def chunks_of(cuts: list[int]) -> list[Chunk]:
    """Return the recording in pieces that begin at some offsets, each with the time of its first byte."""
    bounds = sorted({0, len(LINES), *cuts})
    return [Chunk(start, LINES[start:end], ((start, 1000 + start),)) for start, end in pairwise(bounds)]


CUTS = st.lists(st.integers(1, len(LINES) - 1), max_size=12)


@pytest.mark.system
@given(st.lists(CUTS, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_chunks_in_any_order_make_a_prefix_and_all_in_order_the_whole(
    cuts: list[list[int]], chance: object
) -> None:
    """Chunks cut, doubled, swapped and left out give a prefix; then all in order give the whole."""
    pieces = [chunk for each in cuts for chunk in chunks_of(each)]
    mixed = [*pieces, *pieces]
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    mixed = [Chunk(0, LINES[:1]), *mixed[: len(pieces)]]
    with filled() as (copy, rule):
        for chunk in mixed:
            rule.take(chunk)
            assert LINES.startswith(copy.path.read_bytes())
        for chunk in chunks_of(cuts[0]):
            assert rule.take(chunk) in (Step.TAKEN, Step.PASSED)
        assert copy.path.read_bytes() == LINES
        assert rule.end(Ended(len(LINES), 0, DIGEST)) is Step.COMPLETE
        written = [line.split() for line in copy.path.with_suffix(".times").read_text().splitlines()]
        assert sorted(written, key=lambda pair: int(pair[0])) == written
        assert len({offset for offset, _ in written}) == len(written)


@pytest.mark.system
@given(
    st.lists(
        st.builds(
            Chunk,
            st.integers(-1, LARGEST_NUMBER) | st.integers(0, 40),
            st.binary(max_size=40),
            st.lists(st.tuples(st.integers(0, 99), st.integers(0, LARGEST_NUMBER)), max_size=4).map(tuple),
            st.lists(st.tuples(st.integers(0, 99), st.integers(0, LARGEST_NUMBER)), max_size=4).map(tuple),
        )
        | st.builds(Ended, st.integers(0, LARGEST_NUMBER), st.just(None), st.just("0" * 64)),
        max_size=12,
    )
)
@pytest.mark.slow
def test_hostile_pieces_do_no_harm(pieces: list[Chunk | Ended]) -> None:
    """Any offsets, sizes, times and ends leave a copy that only grows, with times in order."""
    with filled() as (copy, rule):
        before = b""
        for piece in pieces:
            if isinstance(piece, Ended):
                rule.end(piece)
            else:
                rule.take(piece)
            now = copy.path.read_bytes()
            assert now.startswith(before)
            before = now
        times = SavedTimes(copy.path.with_suffix(".times"))
        assert times.refresh()
        found = [times.at(offset) or 0 for offset in range(len(before))]
        assert found == sorted(found)


def test_only_new_bytes_with_their_times_are_taken() -> None:
    """A chunk adds what is behind the copy's end, within the limits of a message and of a session."""
    # A chunk that overlaps what the copy has, with other bytes, only adds what is behind.
    with filled() as (copy, rule):
        rule.take(Chunk(0, b"abc\n"))
        assert rule.take(Chunk(2, b"XX12\n")) is Step.TAKEN
        assert copy.path.read_bytes() == b"abc\n12\n"
    # A chunk that begins behind the end of the copy reports how many bytes are missing before it.
    with filled() as (copy, rule):
        rule.take(Chunk(0, b"abc\n"))
        assert rule.take(Chunk(10, b"def\n")) is Step.AHEAD
        assert (rule.missing, copy.path.read_bytes()) == (6, b"abc\n")
    # Times of bytes that the copy has, that go back, or that are not a time of day, are left out.
    with filled() as (copy, rule):
        rule.take(Chunk(0, b"ab\n", ((0, 50), (2, 40))))
        rule.take(Chunk(0, b"ab\ncd\n", ((0, 99), (3, 60), (4, 1 << 52), (9, 70)), ((1, 5), (3, 7))))
        assert copy.path.with_suffix(".times").read_bytes() == b"0 50\ngap 3 7\n3 60\n"
    # The time of a chunk whose first line is cut applies to the line after it.
    with filled() as (copy, rule):
        rule.take(Chunk(100, b"half\n{}\n{}\n", ((100, 70), (108, 80))))
        assert copy.path.with_suffix(".times").read_bytes() == b"gap 0 105\n0 70\n3 80\n"
    # A message that is larger than the stream allows is not written.
    with filled() as (copy, rule):
        assert rule.take(Chunk(0, b"x" * (MESSAGE_BYTES + 1))) is Step.PASSED
        assert copy.size == 0
    # A chunk that would make the copy larger than a session may be is refused.
    with filled() as (copy, _):
        rule = Rule(copy, 10)
        rule.take(Chunk(0, b"0123456789"))
        assert rule.take(Chunk(10, b"x")) is Step.TOO_LARGE
        assert copy.size == 10


def test_a_copy_without_the_beginning_begins_with_a_line() -> None:
    """Where the beginning is no longer kept, the copy begins at the first line that is known to be whole."""
    for chunks, base, content in (
        ([Chunk(100, b'{"a":1}\n{"b":2}\n')], 100, b'{"a":1}\n{"b":2}\n'),
        ([Chunk(100, b'lf"}\n{"b":2}\n')], 105, b'{"b":2}\n'),
        ([Chunk(100, b"within"), Chunk(106, b'lf"}\n'), Chunk(111, b'{"b":2}\n')], 111, b'{"b":2}\n'),
        ([Chunk(100, b"within"), Chunk(106, b'lf"}\n{"b"')], 111, b'{"b"'),
    ):
        with case(chunks), filled() as (copy, rule):
            for chunk in chunks:
                rule.take(chunk)
            assert (copy.path.read_bytes(), copy.origin.base) == (content, base)
            assert copy.path.with_suffix(".times").read_bytes() == b"gap 0 %d\n" % base


def test_a_copy_is_complete_by_its_size_and_its_digest() -> None:
    """The end of the recording makes a copy complete if it has all bytes, and no others."""
    # The end of a recording without a byte makes the copy complete.
    with filled() as (_, rule):
        assert rule.end(Ended(0, 0, hashlib.sha256().hexdigest())) is Step.COMPLETE
    # An end of more bytes than the copy has reports them as missing, and the copy goes on.
    with filled() as (copy, rule):
        rule.take(Chunk(0, LINES[:100]))
        assert rule.end(Ended(len(LINES), 0, DIGEST)) is Step.AHEAD
        assert rule.missing == len(LINES) - 100
        assert not copy.origin.is_complete
    # An end with another digest, or of fewer bytes, leaves a copy that is not used again.
    for end in (Ended(len(LINES), 0, "0" * 64), Ended(100, 0, DIGEST)):
        with case(end), filled() as (copy, rule):
            rule.take(Chunk(0, LINES))
            assert rule.end(end) is Step.DIFFERENT
            assert copy.origin.differs
            assert not copy.origin.is_complete
    # The digest of the whole recording says nothing about a part of it.
    with filled() as (copy, rule):
        rule.take(Chunk(100, b"{}\n"))
        assert rule.end(Ended(103, 7, DIGEST)) is Step.COMPLETE
        assert (copy.origin.sha256, copy.origin.exit_code) == (hashlib.sha256(b"{}\n").hexdigest(), 7)
