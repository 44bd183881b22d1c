"""The arrival times that travel with a chunk, read from a file that may contain anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.remote.chunk import HEADER_BYTES, SEEN_PER_CHUNK
from agentwatch.remote.publish.recorded import TimesAhead

ANY_LINE = st.one_of(
    st.binary(max_size=30),
    st.tuples(st.integers(0, 1 << 60), st.integers(0, 1 << 60)).map(lambda pair: b"%d %d" % pair),
    st.tuples(st.integers(0, 300), st.integers(0, 99)).map(lambda pair: b"gap %d %d" % pair),
    st.tuples(st.integers(0, 300), st.integers(0, 99)).map(lambda pair: b"%d %d" % pair),
)


def test_without_a_file_there_are_no_times(tmp_path: Path) -> None:
    """A recording that has no times is sent without."""
    noted = TimesAhead(tmp_path / "gone").within(100)
    assert (noted.end, noted.seen, noted.gaps) == (100, (), ())


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


def test_a_line_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    """Half a number is no number."""
    path = tmp_path / "times"
    path.write_bytes(b"0 1\n4 2")
    times = TimesAhead(path)
    assert times.within(8).seen == ((0, 1),)
    path.write_bytes(b"0 1\n4 25\n")
    assert times.within(8).seen == ((0, 1), (4, 25))


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
