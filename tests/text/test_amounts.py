"""Amounts and times as words."""

from __future__ import annotations

from datetime import datetime

from agentwatch.text.amounts import byte_size, dollars, plural, short_count
from agentwatch.text.times import (
    date_and_minute,
    date_and_time,
    day_or_time,
    day_words,
    time_of_day,
    time_with_zone,
    utc,
    zone_minutes,
)
from tests.conftest import case


def test_amounts_are_short() -> None:
    """A cost under a cent has four digits, a count at most four and a letter, a size one decimal; one is
    singular.
    """
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
    assert [plural(1, "line"), plural(0, "line"), plural(2, "match")] == ["1 line", "0 lines", "2 matches"]
    assert [byte_size(size) for size in (999, 12_300, 4_000_000_000)] == ["999 B", "12.3 kB", "4.0 GB"]


def epoch_ms(*parts: int) -> int:
    """Return a local time in milliseconds since the epoch."""
    return int(datetime(*parts).timestamp() * 1000)  # type: ignore[arg-type]


NOW = epoch_ms(2026, 11, 20, 14, 3, 7)


def test_a_time_is_local() -> None:
    """With its date, its zone or in UTC; a past time is one of today, a day or a month, by its distance. The
    agent's clock may give any number.
    """
    assert time_of_day(NOW) == "14:03:07"
    assert date_and_time(NOW) == "2026-11-20 14:03:07"
    assert date_and_minute(NOW) == "2026-11-20 14:03"
    assert datetime.fromisoformat(time_with_zone(NOW)).timestamp() * 1000 == NOW - 7_000
    at = utc(NOW + 1)
    assert at is not None
    assert at.timestamp() * 1000 == NOW
    january = epoch_ms(2027, 1, 5)
    for then, now, words in (
        (epoch_ms(2026, 11, 20, 0, 5), NOW, "00:05"),
        (epoch_ms(2026, 2, 3), NOW, "3 Feb"),
        (epoch_ms(2025, 12, 31), NOW, "2025-12"),
        (epoch_ms(2026, 12, 30), january, "30 Dec"),
        (epoch_ms(2026, 6, 30), january, "2026-06"),
        (epoch_ms(2027, 2, 1), NOW, "2027-02"),
    ):
        with case(words):
            assert day_or_time(then, now) == words
    new_year = epoch_ms(2027, 1, 1, 0, 0, 1)
    for then, now, words in (
        (epoch_ms(2026, 11, 20), NOW, "today"),
        (epoch_ms(2026, 11, 19, 23, 59), NOW, "yesterday"),
        (epoch_ms(2026, 11, 18), NOW, "Wed 18 Nov"),
        (epoch_ms(2026, 12, 31), new_year, "yesterday"),
        (epoch_ms(2026, 12, 30), new_year, "30 Dec 2026"),
    ):
        with case(words):
            assert day_words(then, now) == words
    for ms in (None, 10**30, -(10**30)):
        with case(ms):
            assert time_of_day(ms) == "--:--:--"
            assert time_of_day(ms, "") == ""
            assert date_and_time(ms) == date_and_minute(ms) == "unknown"
            assert time_with_zone(ms) == ""
            assert zone_minutes(ms) == 0
            assert utc(ms) is None
    assert day_or_time(10**30, NOW) == "–"
