"""The difference of two texts, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.compare.comparison import MOST_CHARACTERS, Part, text_difference

TEXTS = st.text(st.sampled_from("ab .\n,é"), max_size=40)


def side(a: str, b: str, part: Part) -> str:
    """Return the words of one side of the difference of two texts, without blanks."""
    pieces = text_difference(a, b).pieces
    return "".join("".join(piece.text.split()) for piece in pieces if piece.part in (Part.BOTH, part))


@given(TEXTS, TEXTS)
def test_each_text_can_be_read_from_the_pieces(a: str, b: str) -> None:
    """The pieces of a side, in order, have the words of that side, in order."""
    assert side(a, b, Part.ONLY_A) == "".join(a.split())
    assert side(a, b, Part.ONLY_B) == "".join(b.split())


@given(TEXTS)
def test_a_text_equals_itself(text: str) -> None:
    """No words differ, also if the lines are wrapped in another way."""
    assert text_difference(text, text).is_equal
    assert text_difference(text, text.replace(" ", "\n")).is_equal


def test_texts_without_a_common_word_are_two_pieces() -> None:
    """First the words of the one, then those of the other."""
    pieces = text_difference("one two", "three").pieces
    assert [(piece.part, piece.text) for piece in pieces] == [
        (Part.ONLY_A, "one two"),
        (Part.ONLY_B, "three"),
    ]


def test_only_the_beginning_of_huge_texts_is_compared() -> None:
    """Repeated words take bounded time, and the difference says that it is cut."""
    found = text_difference("a b " * 100_000, "b a " * 100_000)
    assert found.is_cut
    assert sum(len(piece.text) for piece in found.pieces) <= 2 * MOST_CHARACTERS
