"""Ages and dates on the command line are exact, and anything else is refused."""

from datetime import datetime

from agentwatch.cli.parameters import age_ms, byte_count
from agentwatch.text.times import time_ms
from tests.conftest import case

NOW_MS = 1_795_000_000_000


def test_an_age_has_a_number_and_a_unit() -> None:
    """An age is a whole number or a fraction, and a unit: seconds, minutes, hours, days or weeks."""
    cases: list[tuple[str, int]] = [
        ("0s", 0),
        ("90s", 90_000),
        ("30m", 1_800_000),
        ("2h", 7_200_000),
        ("30d", 2_592_000_000),
        ("1w", 604_800_000),
        ("1.5d", 129_600_000),
    ]
    for words, ms in cases:
        with case(words):
            assert age_ms(words) == ms
            assert time_ms(words, NOW_MS) == NOW_MS - ms
    # A sign, a blank, another unit or another script makes no age.
    wrong = ["", "d", "30", "-3d", "+3d", "30 d", "٣d", "30D", "30y", "1" * 9 + "w", "30dd", "1_0d"]
    for words in wrong:
        with case(words):
            assert age_ms(words) is None
            assert time_ms(words, NOW_MS) is None


def test_a_date_is_local_or_has_a_time_zone() -> None:
    """A date without an offset is local, and without a time its midnight; a wrong one is refused."""
    for words in ("2026-11-20", "2026-11-20T14:03", "2026-11-20 14:03:07"):
        with case(words):
            assert time_ms(words, NOW_MS) == int(datetime.fromisoformat(words).timestamp() * 1000)
    # A date with an offset is that time; one that is written in another way is refused.
    assert time_ms("2026-11-18T11:06:40Z", 0) == NOW_MS
    for words in ("2026-13-01", "2026-02-30", "yesterday", "11/20/2026", "20261120-1"):
        with case(words):
            assert time_ms(words, NOW_MS) is None
    # The clock of this machine may not know a date: it is refused or exact, never an exception.
    for words in ("0001-01-01", "9999-12-31T23:59:59"):
        with case(words):
            found = time_ms(words, NOW_MS)
            assert found is None or (found < 0) is words.startswith("0001")


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
    # What is not a number with a unit is not guessed.
    for words in ("", "GB", "-1", "1,5GB", "1iB", "1e9", "1.2345GB", "9" * 13, "٣GB"):
        with case(words):
            assert byte_count(words) is None
