"""The assistant's text is read once, from whole segments or from deltas with their flushes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders.lines import (
    answered,
    asked,
    completed,
    delta,
    event,
    final,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
)
from tests.conftest import case


def text_of(*lines: bytes) -> str:
    """Return the assistant's text."""
    return session(init(), *lines).text


def test_segments_are_joined_without_a_separator() -> None:
    """Without partial output each segment arrives once, and the text is their concatenation."""
    assert text_of(segment("One."), started("read"), completed("read"), final("Two.")) == "One.Two."


def test_a_flush_that_repeats_its_deltas_adds_nothing() -> None:
    """With partial output a segment's flush, before a tool call or at the end, adds no text."""
    first = (delta("On"), delta("e."), segment("One."))
    last = (delta("Tw"), delta("o."), final("Two."))
    assert text_of(*first, started("read"), completed("read"), *last, result("One.Two.")) == "One.Two."


def test_equal_deltas_are_all_kept() -> None:
    """A delta equal to an earlier one adds its text again."""
    pieces = ("**", "the", " the", " the", "**", "**")
    assert text_of(*map(delta, pieces), final("".join(pieces))) == "**the the the****"


@pytest.mark.parametrize("flush", [segment, final])
def test_a_segment_of_one_delta_is_flushed_too(flush: Any) -> None:
    """A flush that equals the only delta before it adds nothing."""
    assert text_of(delta("Yes."), flush("Yes.")) == "Yes."


def test_a_flush_that_repeats_its_segment_adds_nothing() -> None:
    """A repeated flush adds nothing."""
    assert text_of(delta("Yes"), delta("."), segment("Yes."), final("Yes."), result("Yes.")) == "Yes."


def test_deltas_after_a_flush_begin_a_new_segment() -> None:
    """A flush is compared with the text since the flush before it, not with all earlier text."""
    assert text_of(delta("a"), segment("a"), delta("a"), delta("b"), final("ab")) == "aab"


def test_equal_whole_segments_are_both_kept() -> None:
    """Two equal whole segments are two texts, because there were no deltas to repeat."""
    assert text_of(segment("Again."), final("Again.")) == "Again.Again."


def test_a_whole_segment_that_differs_from_the_deltas_is_new() -> None:
    """A line with the form of a flush that repeats nothing is the only copy of its text."""
    assert text_of(delta("ab"), final("abc")) == "ababc"


def test_a_segment_ends_where_something_else_begins() -> None:
    """After a tool call, a query, a result or an init, an equal text is a new segment, not a flush."""
    cases: list[tuple[str, bytes]] = [
        ("started", started("read")),
        ("completed", completed("read")),
        ("asked", asked()),
        ("answered", answered({"approved": {}})),
        ("result", result("x")),
        ("init", init()),
    ]
    for name, closer in cases:
        with case(name):
            assert text_of(delta("x"), closer, final("x")) == "xx"


def test_a_whole_segment_before_a_query_is_text() -> None:
    """A segment with the keys of a delta, before an interaction query, is text."""
    lines = (
        segment("I ask."),
        started("shell"),
        completed("shell"),
        delta("Then I search."),
        asked("webSearch"),
    )
    refused = answered({"rejected": {"reason": "no"}}, "webSearch")
    assert text_of(*lines, refused, final("No luck.")) == "I ask.Then I search.No luck."


def test_reasoning_is_not_text_and_ends_no_segment() -> None:
    """Reasoning is not part of the text, and a flush after it still repeats the deltas before it."""
    assert text_of(delta("a"), thought("hm"), thought_through(), delta("b"), segment("ab")) == "ab"


def test_a_message_in_several_parts_is_one_text() -> None:
    """All text parts of a message count; parts of other types do not."""
    parts = [{"type": "text", "text": "a"}, {"type": "image", "data": "x"}, {"type": "text", "text": "b"}]
    assert text_of(event("assistant", message={"role": "assistant", "content": parts})) == "ab"
