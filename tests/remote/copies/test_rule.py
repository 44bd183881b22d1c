"""The reader rule: whatever arrives, the copy is a prefix of the recording."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.recording.times import SavedTimes
from agentwatch.remote.chunk import LARGEST_NUMBER, MESSAGE_BYTES, Chunk, Ended
from agentwatch.remote.copies import Copies, LocalCopy, Rule, Step
from tests.conftest import case

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


def test_of_overlapping_chunks_the_first_bytes_count() -> None:
    """A chunk that overlaps what the copy has, with other bytes, only adds what is behind."""
    with filled() as (copy, rule):
        rule.take(Chunk(0, b"abc\n"))
        assert rule.take(Chunk(2, b"XX12\n")) is Step.TAKEN
        assert copy.path.read_bytes() == b"abc\n12\n"


def test_a_chunk_behind_missing_bytes_is_not_taken() -> None:
    """A chunk that begins behind the end of the copy reports how many bytes are missing before it."""
    with filled() as (copy, rule):
        rule.take(Chunk(0, b"abc\n"))
        assert rule.take(Chunk(10, b"def\n")) is Step.AHEAD
        assert (rule.missing, copy.path.read_bytes()) == (6, b"abc\n")


def test_times_are_written_for_new_bytes_alone() -> None:
    """Times of bytes that the copy has, that go back, or that are no time of day, are left out."""
    with filled() as (copy, rule):
        rule.take(Chunk(0, b"ab\n", ((0, 50), (2, 40))))
        rule.take(Chunk(0, b"ab\ncd\n", ((0, 99), (3, 60), (4, 1 << 52), (9, 70)), ((1, 5), (3, 7))))
        assert copy.path.with_suffix(".times").read_bytes() == b"0 50\ngap 3 7\n3 60\n"


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


def test_the_first_bytes_of_a_cut_copy_keep_their_time() -> None:
    """The time of a chunk whose first line is cut applies to the line after it."""
    with filled() as (copy, rule):
        rule.take(Chunk(100, b"half\n{}\n{}\n", ((100, 70), (108, 80))))
        assert copy.path.with_suffix(".times").read_bytes() == b"gap 0 105\n0 70\n3 80\n"


def test_an_end_before_all_bytes_is_not_the_end() -> None:
    """An end of more bytes than the copy has reports them as missing, and the copy goes on."""
    with filled() as (copy, rule):
        rule.take(Chunk(0, LINES[:100]))
        assert rule.end(Ended(len(LINES), 0, DIGEST)) is Step.AHEAD
        assert rule.missing == len(LINES) - 100
        assert not copy.origin.is_complete


def test_a_copy_of_another_digest_or_size_is_not_complete() -> None:
    """An end with another digest, or of fewer bytes, leaves a copy that is not used again."""
    for end in (Ended(len(LINES), 0, "0" * 64), Ended(100, 0, DIGEST)):
        with case(end), filled() as (copy, rule):
            rule.take(Chunk(0, LINES))
            assert rule.end(end) is Step.DIFFERENT
            assert copy.origin.differs
            assert not copy.origin.is_complete


def test_a_copy_without_the_beginning_is_complete_by_its_size() -> None:
    """The digest of the whole recording says nothing about a part of it."""
    with filled() as (copy, rule):
        rule.take(Chunk(100, b"{}\n"))
        assert rule.end(Ended(103, 7, DIGEST)) is Step.COMPLETE
        assert (copy.origin.sha256, copy.origin.exit_code) == (hashlib.sha256(b"{}\n").hexdigest(), 7)


def test_an_empty_recording_ends() -> None:
    """The end of a recording without a byte makes the copy complete."""
    with filled() as (_, rule):
        assert rule.end(Ended(0, 0, hashlib.sha256().hexdigest())) is Step.COMPLETE


def test_a_payload_beyond_the_limit_is_passed_over() -> None:
    """A message that is larger than the stream allows is not written."""
    with filled() as (copy, rule):
        assert rule.take(Chunk(0, b"x" * (MESSAGE_BYTES + 1))) is Step.PASSED
        assert copy.size == 0


def test_a_copy_does_not_grow_beyond_its_limit() -> None:
    """A chunk that would make the copy larger than a session may be is refused."""
    with filled() as (copy, _):
        rule = Rule(copy, 10)
        rule.take(Chunk(0, b"0123456789"))
        assert rule.take(Chunk(10, b"x")) is Step.TOO_LARGE
        assert copy.size == 10
