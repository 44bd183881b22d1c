"""Sizes on the command line."""

from __future__ import annotations

from agentwatch.cli.parameters import byte_count
from tests.conftest import case


def test_a_size_has_a_unit() -> None:
    """A unit is decimal, and binary with an `i`; without one, bytes are meant."""
    cases: list[tuple[str, int]] = [
        ("1", 1),
        ("12B", 12),
        ("5k", 5_000),
        ("1.5MB", 1_500_000),
        ("50GB", 50 * 10**9),
        ("2GiB", 2 << 30),
    ]
    for words, count in cases:
        with case(words):
            assert byte_count(words) == count


def test_other_words_are_no_size() -> None:
    """What is no number with a unit is not guessed."""
    for words in ("", "GB", "-1", "1,5GB", "1iB", "1e9", "1.2345GB", "9" * 13, "٣GB"):
        with case(words):
            assert byte_count(words) is None
