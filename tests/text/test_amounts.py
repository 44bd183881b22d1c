"""Amounts, times and durations as words."""

from datetime import datetime

from agentwatch.text.amounts import byte_size, dollars, line_counts, plain_markdown, plural, short_count
from agentwatch.text.durations import (
    age_words,
    duration_words,
    in_seven_columns,
    read_duration,
    running_clock,
    seconds,
)
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


def epoch_ms(*parts: int) -> int:
    """Return a local time in milliseconds since the epoch."""
    return int(datetime(*parts).timestamp() * 1000)  # type: ignore[arg-type]


NOW = epoch_ms(2026, 11, 20, 14, 3, 7)


def test_large_counts_have_commas() -> None:
    """A count of four digits or more has commas, alone and of lines that an edit changed."""
    assert plural(8456, "call") == "8,456 calls"
    assert line_counts(8456, 1000) == "+8,456 -1,000"


def test_markdown_becomes_one_plain_line() -> None:
    """A line of Markdown has no markup; signs in code, in names and in sums are kept. A long line is cut."""
    for line, words in (
        ("## **Done**: `a_b` is in [the docs](x.md)", "Done: a_b is in the docs"),
        ("- **Fixed `x_y` and _more words_ here**", "Fixed x_y and more words here"),
        ("> quote *it* ~~now~~", "quote it now"),
        ("| a | **b** |", "a | b"),
        ("2. Should I *push*?", "2. Should I push?"),
        ("`**` and `**kw`: 2 ** 3 * 4, __init__ and a*b*c", "** and **kw: 2 ** 3 * 4, __init__ and a*b*c"),
        ("\0`a`\0`b", "a `b"),
        *((line, "") for line in ("```python", "---", "", " ** ")),
    ):
        with case(line):
            assert plain_markdown(line).strip() == words
    for line in ("`" * 10**6, "**a" * 10**6, "[a](" * 10**6, "_ " * 10**6, "# > " * 10**6):
        with case(line[:10]):
            assert len(plain_markdown(line)) <= 500


def test_amounts_and_times() -> None:
    """A cost under a cent has four digits, a count at most four and a letter, a size one decimal; one is
    singular. With its date, its zone or in UTC; a past time is one of today, a day or a month, by its
    distance. The agent's clock may give any number.
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
    # A time is local.
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


HOUR_MS = 3_600_000


def test_a_duration_is_written_and_read() -> None:
    """Tenths below a minute, then minutes and hours; a running clock has whole seconds, an age one unit, a
    clock seven columns, and the log seconds. A number with its unit is exact to the millisecond; anything
    else is not a duration.
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
    # A written duration is read.
    for other_words, other_ms in (
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
        with case(other_words):
            assert read_duration(other_words) == other_ms
    assert read_duration("90", unit="s") == 90_000
