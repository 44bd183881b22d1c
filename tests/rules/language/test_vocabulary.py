"""Numbers have the unit of what they measure."""

from __future__ import annotations

import pytest

from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.vocabulary import Measure, number
from tests.conftest import case

NUMBERS: list[tuple[str, Measure, float]] = [
    ("0", Measure.COUNT, 0),
    ("-9", Measure.COUNT, -9),
    ("1.5k", Measure.COUNT, 1500),
    ("2M", Measure.COUNT, 2_000_000),
    ("500ms", Measure.DURATION, 500),
    ("50s", Measure.DURATION, 50_000),
    ("1.5m", Measure.DURATION, 90_000),
    ("2h", Measure.DURATION, 7_200_000),
    ("7d", Measure.DURATION, 604_800_000),
    ("80", Measure.PERCENT, 80),
    ("80.5%", Measure.PERCENT, 80.5),
]


def test_a_number_has_a_unit() -> None:
    """Times are returned in milliseconds, shares of 100 as they are."""
    for text, measure, value in NUMBERS:
        with case(text):
            assert number(text, measure, "x") == value


NOT_NUMBERS: list[tuple[str, Measure]] = [
    ("", Measure.COUNT),
    ("k", Measure.COUNT),
    ("1 k", Measure.COUNT),
    ("1m", Measure.COUNT),
    ("1e5", Measure.COUNT),
    ("1.", Measure.COUNT),
    ("9" * 16, Measure.COUNT),
    ("5", Measure.DURATION),
    ("5min", Measure.DURATION),
    ("1h30m", Measure.DURATION),
    ("80s", Measure.PERCENT),
    ("²", Measure.COUNT),
]


def test_another_unit_is_an_error() -> None:
    """A number of something else, or one with more than 15 digits, is an error that shows right ones."""
    for text, measure in NOT_NUMBERS:
        with case(f"{text} {measure}"), pytest.raises(RuleError, match=r"^x: .* is not a"):
            number(text, measure, "x")
