"""A text that grows by pieces equals the joined pieces, while it grows and when it is complete."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.session.storage import GrowingText, Spill, TextPrefix, is_joined
from tests.builders.lines import PROPERTY

PIECES = st.lists(
    st.builds(
        lambda text, times: text * times, st.text("ab\n é🙂\ud83d", max_size=9), st.sampled_from([1, 9, 4000])
    ),
    max_size=8,
)


@PROPERTY
@given(PIECES, st.integers(0, 80_000), st.integers(0, 80_000), st.booleans())
def test_a_text_is_its_pieces(pieces: list[str], start: int, length: int, is_complete: bool) -> None:
    """Length, text and any part are those of the joined pieces, across chunks as well."""
    text, whole = GrowingText(Spill()), ""
    for piece in pieces:
        text.add(piece)
        whole += piece
        assert (len(text), text.part(start)) == (len(whole), whole[start:])
    if is_complete:
        text.complete()
        text.complete()
    assert str(text) == whole
    assert text.part(start, start + length) == whole[start : start + length]
    assert text.part(0) == whole


def test_a_text_may_begin_with_something() -> None:
    """The initial text is the first piece."""
    text = GrowingText(Spill(), "干潮")
    text.add(" 🌊")
    assert (str(text), len(text), text.part(1, 3)) == ("干潮 🌊", 4, "潮 ")


@pytest.mark.parametrize(("length", "spilled_bytes"), [(0, 0), (256, 0), (257, 257)])
def test_a_short_text_is_not_spilled(length: int, spilled_bytes: int) -> None:
    """A complete text of at most 256 characters stays in memory as one string; a longer one is spilled."""
    spill = Spill()
    text = GrowingText(spill)
    for _ in range(length):
        text.add("a")
    text.complete()
    end_of_spill = spill.add(b"")
    assert end_of_spill == spilled_bytes
    first, second = str(text), str(text)
    assert (first, text.part(1, 3)) == ("a" * length, ("a" * length)[1:3])
    assert (first is second) == (not spilled_bytes)


@PROPERTY
@given(PIECES, PIECES)
def test_a_text_is_compared_with_pieces(pieces: list[str], others: list[str]) -> None:
    """A list of pieces equals a text if their concatenation does, however each was cut."""
    whole = GrowingText(Spill(), "".join(pieces))
    cut = [GrowingText(Spill(), piece) for piece in pieces]
    assert is_joined(whole, cut)
    assert is_joined(whole, [GrowingText(Spill(), piece) for piece in others]) == (
        "".join(pieces) == "".join(others)
    )
    whole.complete()
    for piece in cut:
        piece.complete()
    assert is_joined(whole, cut)
    assert not is_joined(whole, [*cut, GrowingText(Spill(), "a")])
    longer = GrowingText(Spill(), "".join([*pieces, "ab"]))
    assert not is_joined(longer, cut)
    assert not is_joined(longer, [*cut, GrowingText(Spill(), "a")])


@PROPERTY
@given(PIECES, st.integers(0, 40_000), st.integers(0, 40_000), st.integers(0, 40_000), st.booleans())
def test_a_prefix_is_the_beginning_of_its_text(
    pieces: list[str], length: int, start: int, end: int, is_complete: bool
) -> None:
    """Length, text, UTF-8 and parts of a prefix are those of the first characters, also while it grows."""
    whole = "".join(pieces)
    text = GrowingText(Spill(), whole)
    if is_complete:
        text.complete()
    length = min(length, len(whole))
    prefix = TextPrefix(text, length)
    for most in (0, len(whole) // 3, len(whole)):
        more = min(most, len(whole) - length)
        prefix.add(whole[length : length + more])
        length += more
        expected = whole[:length]
        assert (len(prefix), str(prefix), prefix.part(start)) == (length, expected, expected[start:])
        assert prefix.part(start, end) == expected[start:end]
        assert b"".join(prefix.utf8()) == expected.encode("utf-8", "surrogatepass")
    prefix.complete()
    assert str(prefix) == whole[:length]
