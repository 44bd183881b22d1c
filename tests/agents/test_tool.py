"""What decoders share: open calls, blocks, to-do lists, repeated segments, checked versions."""

import pickle
import re
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents.blocks import binary_block, fields_block, short_and_long
from agentwatch.agents.delta_frames import SegmentText
from agentwatch.agents.registry import Checked, agent_named, checked_formats
from agentwatch.agents.tool import MOST_ENTRIES, OpenCalls, entry_in, listed_entries, plan_entry, remember
from agentwatch.session.blocks import BinaryBlock, Block, ContentBlock, FieldsBlock, TextBlock
from agentwatch.session.events import PlanEntry, PlanStatus
from tests.builders.lines import ANY_TEXT, PROPERTY
from tests.conftest import case


def test_what_is_open_is_bounded() -> None:
    """At most 1,024 calls are open, none with an id or a name of more than 1,000 characters; the next one
    replaces the oldest.
    """
    calls = OpenCalls[int]()
    for number in range(1030):
        calls.keep(f"call-{number}", number)
    assert (len(calls), next(iter(calls.items()))) == (1024, ("call-6", 6))
    made = OpenCalls[None]()
    made.keep("x" * 1000, None, "x" * 1000)
    made.keep("x" * 1001, None)
    made.keep("y", None, "x" * 1001)
    assert list(made) == ["x" * 1000]
    kept = {"a": 1, "b": 2}
    remember(kept, "a", 3, 2)
    assert list(kept.items()) == [("a", 3), ("b", 2)]
    remember(kept, "c", 4, 2)
    assert list(kept.items()) == [("b", 2), ("c", 4)]


def test_fields_and_data_are_blocks() -> None:
    """Data has a type and a size, if they are known; empty fields are left out, and texts of several lines
    follow.
    """
    assert binary_block("image/png", "AAA=") == BinaryBlock("image/png", 2)
    assert binary_block(None, None) == BinaryBlock("binary", None)
    fields = {"a": 0, "b": False, "c": "", "d": None, "e": [], "f": {}}
    assert [*fields_block("result", fields)] == [FieldsBlock("result", {"a": 0, "b": False})]
    assert not [*fields_block("result", {"c": ""})]
    arguments = {"note": "x\ny", "path": "/a", "content": "p\nq"}
    expected: list[Block] = [FieldsBlock("arguments", {"path": "/a"}), TextBlock("note", "x\ny")]
    assert [*short_and_long(arguments, ["content"])] == [*expected, ContentBlock("p\nq")]
    assert [*short_and_long(arguments)] == [*expected, TextBlock("content", "p\nq")]


def test_a_list_has_entries() -> None:
    """The first field with a text is that of an entry; an unknown status is pending, or the former one. A
    list has 10,000 entries of 4,096 characters at most.
    """
    todos = [{"title": "", "content": "a", "status": "completed"}, {"content": "b", "status": []}, 7]
    assert listed_entries(todos, "title", "content") == (
        PlanEntry("a", PlanStatus.COMPLETED),
        PlanEntry("b", PlanStatus.PENDING),
        PlanEntry("", PlanStatus.PENDING),
    )
    cases: list[object] = [None, 7, "a", {"content": "a"}, []]
    for value in cases:
        with case(value):
            assert listed_entries(value, "content") == ()
    assert len(listed_entries([{}] * (MOST_ENTRIES + 1), "content")) == 10_000
    assert len(entry_in({"content": "x" * 5000}, "content").text) == 4096
    assert plan_entry("a", "gone", PlanStatus.COMPLETED).status is PlanStatus.COMPLETED
    assert plan_entry("a", None).status is PlanStatus.PENDING


def segment_of(*pieces: str) -> SegmentText:
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


def test_a_segment_is_compared_saved_and_not_kept() -> None:
    """Its text is compared, also after a pickle, but takes no memory."""
    # A text of the same length is compared, in a short segment and a long one, also after the segment was
    # pickled.
    for length in [3, 100_000]:
        with case(length):
            segment = segment_of("a" * length)
            assert segment.is_repeated_by("a" * length)
            assert not segment.is_repeated_by("a" * (length - 1) + "b")
            assert not segment.is_repeated_by("a" * length, "b")
            segment.clear()
            assert segment.is_repeated_by("")
    for length in [3, 65_535, 65_536, 65_537, 200_000]:
        with case(length):
            segment = pickle.loads(pickle.dumps(segment_of("é" * (length - 1), "\ud800")))
            segment.add("end")
            assert segment.is_repeated_by("é" * (length - 1) + "\ud800end")
            assert not segment.is_repeated_by("é" * (length - 1) + "\ud801end")
            assert not segment.is_repeated_by("e" + "é" * (length - 2) + "\ud800end")
    # A segment of 200 MB takes less than 2 MB of memory.
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


def test_a_checked_format_is_known() -> None:
    """Each format that was checked has a reader, a version and a day; its words have the number of wrong
    facts.
    """
    for name, checked in checked_formats().items():
        with case(name):
            assert agent_named(name) is not None
            assert re.fullmatch(r"checked with version \S+ on [\d-]{10}: (right|\d+ wrong)", str(checked))
    assert str(Checked("1.2", "2026-11-24", 0)) == "checked with version 1.2 on 2026-11-24: right"
    assert str(Checked("1.2", "2026-11-24", 2)) == "checked with version 1.2 on 2026-11-24: 2 wrong"
