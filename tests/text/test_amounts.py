"""Costs, counts and sizes are written in one way each."""

from __future__ import annotations

from agentwatch.text.amounts import byte_size, dollars, plural, short_count
from tests.conftest import case


def test_a_cost_is_never_rounded_to_nothing() -> None:
    """A cost under a cent has four digits, and one under those is said to be."""
    for cost, words in (
        (0, "$0.00"),
        (1e-6, "<$0.0001"),
        (0.0034, "$0.0034"),
        (0.01, "$0.01"),
        (0.406, "$0.41"),
        (1234.5, "$1,234.50"),
    ):
        with case(cost):
            assert dollars(cost) == words


def test_a_count_has_at_most_four_digits() -> None:
    """Thousands, millions and billions have their letter."""
    for count, words in (
        (None, "0"),
        (840, "840"),
        (3_249, "3.2k"),
        (123_900, "124k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (10**13, "1e+13"),
    ):
        with case(count):
            assert short_count(count) == words


def test_a_noun_agrees_with_its_count() -> None:
    """One is singular, all others are plural."""
    assert [plural(1, "line"), plural(0, "line"), plural(2, "match")] == ["1 line", "0 lines", "2 matches"]


def test_a_size_is_decimal() -> None:
    """Bytes are whole, larger units have one decimal."""
    assert [byte_size(size) for size in (999, 12_300, 4_000_000_000)] == ["999 B", "12.3 kB", "4.0 GB"]
