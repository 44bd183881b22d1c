"""Long texts: the head and the tail are kept, and what is left out is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.export.html.content import kept


@given(st.text(alphabet="ab\n", max_size=400), st.integers(2, 300))
def test_head_and_tail_are_parts_of_the_text(text: str, most: int) -> None:
    """Head, left out and tail make up the text, and at most `most` characters are kept."""
    head, left_out, tail = kept(text, most)
    assert len(head) + left_out + len(tail) == len(text)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) <= max(most, 0) or not left_out
    assert (left_out == 0) == (len(text) <= most)


def test_a_text_is_cut_at_line_ends() -> None:
    """Both cuts are at the end of a line, if there is one near."""
    head, _, tail = kept("".join(f"line {number}\n" for number in range(2000)), 4000)
    assert head.endswith("\n")
    assert tail.startswith("line ")
