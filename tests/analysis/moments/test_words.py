"""Words for a moment become a value, or one line that says why not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentwatch.analysis.moments import (
    CallEnd,
    End,
    Instant,
    MomentSpec,
    Named,
    Problem,
    Share,
    Shift,
    TimeOfDay,
    parse,
)
from tests.conftest import case

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
NOON_MS = int(datetime(2026, 11, 20, 12, 0, 7, tzinfo=UTC).timestamp()) * 1000


def test_each_form_has_its_value() -> None:
    """Times, durations, calls, percentages, ends and names have different forms."""
    cases: list[tuple[str, MomentSpec]] = [
        ("14:03:07", TimeOfDay(14 * HOUR_MS + 3 * MINUTE_MS + 7_999)),
        ("14:03", TimeOfDay(14 * HOUR_MS + 3 * MINUTE_MS + 999)),
        ("0:00:00.25", TimeOfDay(250)),
        ("2026-11-20T12:00:07Z", Instant(NOON_MS + 999)),
        ("2026-11-20 13:00:07.5+01:00", Instant(NOON_MS + 500)),
        ("+95s", Shift(95_000)),
        ("-10s", Shift(-10_000)),
        ("+2m", Shift(2 * MINUTE_MS)),
        ("+1h", Shift(HOUR_MS)),
        ("+1.5", Shift(1_500)),
        ("-250 ms", Shift(-250)),
        ("#12", CallEnd(12)),
        ("50%", Share(50_000)),
        ("33.3333 %", Share(33_333)),
        ("100%", Share(100_000)),
        ("start", End.START),
        ("LIVE", End.LIVE),
        ("  before the rewrite ", Named("before the rewrite")),
        ("#twelve", Named("#twelve")),
        ("+95x", Named("+95x")),
        ("١٤:٠٣", Named("١٤:٠٣")),
    ]
    for words, moment in cases:
        with case(words):
            assert parse(words) == moment


def test_a_value_out_of_range_has_a_reason() -> None:
    """Words of a form with an impossible value have one line that says so."""
    cases: list[tuple[str, str]] = [
        ("24:00", "24:00 is not a time of day"),
        ("14:60", "14:60 is not a time of day"),
        ("14:03:60", "14:03:60 is not a time of day"),
        ("2026-13-01", "2026-13-01 is not a date and time"),
        ("2026-11-20 noon", "2026-11-20 noon is not a date and time"),
        ("0001-01-01", "0001-01-01 is not a date and time"),
        ("#0", "#0 is not a call: calls are counted from #1"),
        ("100.001%", "100.001% is more than 100%"),
        ("a" * 401, f"{'a' * 59}… is too long"),
    ]
    for words, reason in cases:
        with case(words):
            assert parse(words) == Problem(reason)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", ["", "   ", "\n"])
def test_no_words_show_the_forms(words: str) -> None:
    """Without words, the reason lists the forms that a moment may have."""
    problem = parse(words)
    assert isinstance(problem, Problem)
    assert "14:03:07, +95s, -10s, #12, 50%, start, live" in problem.words


def test_a_reason_is_safe_text() -> None:
    """Control characters of the words do not reach the terminal."""
    assert parse("2026-11-20\x1b[2J") == Problem("2026-11-20␛[2J is not a date and time")  # type: ignore[arg-type]
