"""A duration is written in one way, and read in one way."""

from __future__ import annotations

from agentwatch.text.durations import (
    age_words,
    duration_words,
    in_seven_columns,
    read_duration,
    running_clock,
    seconds,
)
from tests.conftest import case

HOUR_MS = 3_600_000


def test_a_duration_has_the_unit_of_its_size() -> None:
    """Tenths below a minute, then minutes and hours; a running clock has whole seconds, an age one unit, a
    clock seven columns, and the log seconds.
    """
    for ms, words in (
        (-5, "0 ms"),
        (0, "0 ms"),
        (99, "99 ms"),
        (100, "0.1 s"),
        (12_240, "12.2 s"),
        (59_949, "59.9 s"),
        (59_950, "1:00"),
        (250_000, "4:10"),
        (3_599_499, "59:59"),
        (3_599_500, "1:00:00"),
        (3_909_000, "1:05:09"),
        (111_733_000, "31:02:13"),
        (36.5, "36 ms"),
    ):
        with case(ms):
            assert duration_words(ms) == words
    for ms, words in (
        (-5, "0:00"),
        (999, "0:00"),
        (14_999, "0:14"),
        (250_000, "4:10"),
        (3_909_000, "1:05:09"),
    ):
        with case(ms):
            assert running_clock(ms) == words
    for ms, words in (
        (-1, "0 s"),
        (59_999, "59 s"),
        (60_000, "1 min"),
        (HOUR_MS - 1, "59 min"),
        (HOUR_MS, "1 h"),
        (48 * HOUR_MS - 1, "47 h"),
        (48 * HOUR_MS, "2 d"),
        (1 << 62, "9999 d"),
    ):
        with case(ms):
            assert age_words(ms) == words
    widths = [
        len(in_seven_columns(ms, is_over=is_over))
        for ms in (0, 99, 59_949, 10 * HOUR_MS - 501, 10 * HOUR_MS, 48 * HOUR_MS, 1 << 62)
        for is_over in (False, True)
    ]
    assert len(widths) == 14
    assert max(widths) == 7
    assert (
        in_seven_columns(10 * HOUR_MS, is_over=True)
        == in_seven_columns(10 * HOUR_MS, is_over=False)
        == "10 h"
    )
    assert [seconds(ms) for ms in (20, 5_234, 250_050)] == ["0.0 s", "5.2 s", "250.1 s"]


def test_a_written_duration_is_read() -> None:
    """A number with its unit is exact to the millisecond; anything else is not a duration."""
    for words, ms in (
        ("500ms", 500),
        ("50s", 50_000),
        ("1.001s", 1_001),
        ("1.5m", 90_000),
        ("-2h", -7_200_000),
        ("7d", 604_800_000),
        ("4w", 2_419_200_000),
        ("90", None),
        ("", None),
        ("s", None),
        ("5 s", None),
        ("5S", None),
        ("٣d", None),
        ("1_0d", None),
        ("1" * 16 + "s", None),
        ("1.s", None),
    ):
        with case(words):
            assert read_duration(words) == ms
    assert read_duration("90", unit="s") == 90_000
