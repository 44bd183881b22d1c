"""A repeated segment is recognised, whatever its length, at no more than the cost of reading it."""

from __future__ import annotations

import pickle
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents.decoder import SegmentText
from tests.builders.lines import ANY_TEXT, PROPERTY
from tests.conftest import case


def segment_of(*pieces: str) -> SegmentText:
    """Return a segment with these pieces."""
    segment = SegmentText()
    for piece in pieces:
        segment.add(piece)
    return segment


@PROPERTY
@given(st.lists(ANY_TEXT, max_size=4), ANY_TEXT, ANY_TEXT, st.booleans())
def test_only_the_same_text_is_a_repetition(pieces: list[str], ending: str, other: str, long: bool) -> None:
    """A text repeats a segment if and only if it equals its pieces and the ending."""
    pieces = ["é" * 70_000, *pieces] if long else pieces
    whole = "".join(pieces) + ending
    assert segment_of(*pieces).is_repeated_by(whole, ending)
    changed = whole[: len(whole) // 2] + other + whole[len(whole) // 2 :]
    assert segment_of(*pieces).is_repeated_by(changed, ending) == (changed == whole)


@pytest.mark.parametrize("length", [3, 100_000])
def test_a_text_of_the_same_length_may_differ(length: int) -> None:
    """A text of the same length is compared, in a short segment and in a long one."""
    segment = segment_of("a" * length)
    assert segment.is_repeated_by("a" * length)
    assert not segment.is_repeated_by("a" * (length - 1) + "b")
    assert not segment.is_repeated_by("a" * length, "b")
    segment.clear()
    assert segment.is_repeated_by("")


def test_a_segment_goes_on_after_it_was_written_to_a_checkpoint() -> None:
    """A segment that is pickled and read again takes more pieces, and is repeated by the same text."""
    for length in [3, 65_535, 65_536, 65_537, 200_000]:
        with case(length):
            segment = pickle.loads(pickle.dumps(segment_of("é" * (length - 1), "\ud800")))
            segment.add("end")
            assert segment.is_repeated_by("é" * (length - 1) + "\ud800end")
            assert not segment.is_repeated_by("é" * (length - 1) + "\ud801end")
            assert not segment.is_repeated_by("e" + "é" * (length - 2) + "\ud800end")


def test_a_long_segment_is_not_kept() -> None:
    """A segment of 200 MB takes less than 2 MB of memory."""
    tracemalloc.start()
    segment = SegmentText()
    for _ in range(200):
        segment.add("x" * 1_000_000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_000_000


@pytest.mark.costs
def test_texts_of_other_lengths_are_rejected_at_once() -> None:
    """Comparing 20,000 short texts with a segment of 60,000 pieces takes less than half a second."""
    segment = segment_of(*("x" * 60_000))
    began = time.process_time()
    assert not any(segment.is_repeated_by("word") for _ in range(20_000))
    assert time.process_time() - began < 0.5
