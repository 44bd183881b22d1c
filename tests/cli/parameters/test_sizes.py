"""Sizes on the command line."""

from __future__ import annotations

import pytest

from agentwatch.cli.parameters.sizes import byte_count


@pytest.mark.parametrize(
    ("words", "count"),
    [("1", 1), ("12B", 12), ("5k", 5_000), ("1.5MB", 1_500_000), ("50GB", 50 * 10**9), ("2GiB", 2 << 30)],
)
def test_a_size_has_a_unit(words: str, count: int) -> None:
    """A unit is decimal, and binary with an `i`; without one, bytes are meant."""
    assert byte_count(words) == count


@pytest.mark.parametrize("words", ["", "GB", "-1", "1,5GB", "1iB", "1e9", "1.2345GB", "9" * 13, "٣GB"])
def test_other_words_are_no_size(words: str) -> None:
    """What is no number with a unit is not guessed."""
    assert byte_count(words) is None
