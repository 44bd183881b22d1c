"""The words for a moment, and the offset that they name."""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

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
    offset_of,
    parse,
    time_of,
)
from agentwatch.session.session import Session
from tests.builders.lines import DONE, completed, feed_of, init, result, started
from tests.conftest import case, in_zone

LINE_BYTES = 100


class Lines(NamedTuple):
    """A timeline of lines of 100 bytes each, with the times of their ends in milliseconds since the epoch."""

    times: list[int]
    size: int

    @property
    def has_times(self) -> bool:
        """Whether any line has a time."""
        return bool(self.times)

    @property
    def first_ms(self) -> int | None:
        return self.times[0] if self.times else None

    @property
    def last_ms(self) -> int | None:
        return self.times[-1] if self.times else None

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before a moment."""
        return self.times[offset // LINE_BYTES - 1] if offset >= LINE_BYTES and self.times else None

    def offset_at(self, ms: float) -> int:
        """Return the moment after the last line at or before a time."""
        return bisect_right(self.times, ms) * LINE_BYTES


@pytest.fixture(params=["UTC", "America/St_Johns", "Asia/Kathmandu"], autouse=True)
def zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run the test in three time zones, two of them with an odd offset from UTC."""
    with in_zone(request.param):
        yield


def timed(*clocks: str) -> Lines:
    """Return lines that arrived at these local times, such as `2026-11-20 14:03:07.250`."""
    times = [int(datetime.fromisoformat(clock).timestamp() * 1000) for clock in clocks]
    return Lines(times, len(times) * LINE_BYTES)


def found(words: str, lines: Lines, base: int = 0, **bookmarks: int) -> int | str:
    """Return the offset of the moment that words describe, or the words of the problem."""
    moment = parse(words)
    assert not isinstance(moment, Problem)
    offset = offset_of(moment, Session(), lines, base, bookmarks)
    return offset.words if isinstance(offset, Problem) else offset


AFTERNOON = (
    "2026-11-20 14:03:05.500",
    "2026-11-20 14:03:07.250",
    "2026-11-20 14:03:08",
    "2026-11-20 15:00:00",
)


def test_a_call_is_the_moment_at_which_it_had_ended(tmp_path: Path) -> None:
    """`#1` ends after the line that ended call 1; a call that runs, after the line that started it."""
    lines = [init(), started("read", "a"), completed("read", "a", DONE), started("read", "b"), result()]
    path = tmp_path / "session.ndjson"
    path.write_bytes(b"".join(lines))
    feed = feed_of(path)
    ends = [sum(len(line) for line in lines[: count + 1]) for count in range(len(lines))]
    recording = Lines([], ends[-1])

    def end_of(words: str) -> int | str:
        moment = parse(words)
        assert not isinstance(moment, Problem)
        offset = offset_of(moment, feed.session, recording, 0, {})
        return offset.words if isinstance(offset, Problem) else offset

    assert end_of("#1") == ends[2]
    assert end_of("#2") == ends[3]
    assert end_of("#3") == "no call #3: the session has 2 calls"


HOUR_MS, MINUTE_MS = 3_600_000, 60_000
NOON_MS = int(datetime(2026, 11, 20, 12, 0, 7, tzinfo=UTC).timestamp()) * 1000


def test_times_and_forms() -> None:
    """A time without a fraction includes its whole second; `+` and `-` count from the given moment.
    `time_of` returns the time that was asked for. The reason has the range of the recording. Without times,
    percentages are shares of the bytes; times that no calendar has raise nothing. The first such time at or
    after the start is meant, also after midnight and of a time that comes twice. A name is found as it is
    written, otherwise in another case; its offset lies within the recording. Times, durations, calls,
    percentages, ends and names have different forms; an impossible value has one safe line that says so, no
    words the list of forms.
    """
    cases: list[tuple[str, int]] = [
        ("14:03:05", 100),
        ("14:03:07", 200),
        ("14:03:07.249", 100),
        ("14:04", 300),
        ("23:00", 400),
        ("2026-11-20 14:03:07", 200),
        ("2026-11-22", 400),
        ("+0s", 100),
        ("+1.75s", 200),
        ("+2s", 200),
        ("+9h", 400),
        ("-10s", 0),
        ("start", 0),
        ("live", 400),
        ("0%", 0),
        ("50%", 300),
        ("100%", 400),
    ]
    for words, offset in cases:
        with case(words):
            assert found(words, timed(*AFTERNOON)) == offset
    lines = timed(*AFTERNOON)
    assert found("+1s", lines, base=200) == 300
    assert found("-2s", lines, base=300) == 100
    assert found("-4s", lines, base=300) == 0
    lines = timed(*AFTERNOON)
    first_ms = lines.times[0]

    def time(words: str, base: int = 0) -> int | None:
        moment = parse(words)
        assert not isinstance(moment, Problem)
        return time_of(moment, lines, base)

    assert time("14:30:00.0") == lines.times[-1] - 30 * 60_000
    assert time("+10s") == first_ms + 10_000
    assert time("-1s", base=400) == lines.times[-1] - 1_000
    assert time("100%") == lines.times[-1]
    assert [time(words) for words in ("14:00", "start", "#1", "a name")] == [None] * 4
    # A time before the start is not in the recording.
    lines = timed(*AFTERNOON)
    assert found("14:03:04", lines) == "14:03:04 is not in the recording: 14:03:05 to 15:00:00"
    assert found("2026-11-19", lines) == (
        "2026-11-19 00:00:00 is not in the recording: 2026-11-20 14:03:05 to 2026-11-20 15:00:00"
    )
    lines = Lines([], 1000)
    assert found("50%", lines) == 500
    assert found("100%", lines) == 1000
    assert found("live", lines) == 1000
    for words in ("14:03", "2026-11-20", "+5s"):
        assert found(words, lines) == "the recording has no times; #12, 50%, start and live are moments of it"
    for ms in (1 << 62, -(1 << 62), 10**400):
        assert (
            found("14:03", Lines([ms], 100)) == "the times of the recording are outside the years 1 to 9999"
        )
    # A time of another day is meant.
    lines = timed("2026-11-20 23:59:00", "2026-11-21 00:00:30", "2026-11-21 23:58:30", "2026-11-22 01:00:00")
    assert found("23:59", lines) == 100
    assert found("00:01", lines) == 200
    assert found("23:58:30", lines) == 300
    lines = timed("2026-11-20 23:59:00", "2026-11-21 00:00:30")
    assert found("12:00", lines) == (
        "12:00:00 is not in the recording: 2026-11-20 23:59:00 to 2026-11-21 00:00:30"
    )
    with in_zone("Europe/Berlin"):
        second_0230 = int(datetime(2026, 10, 25, 2, 30, fold=1).timestamp() * 1000)
        lines = Lines([second_0230 - 60_000, second_0230, second_0230 + 60_000], 300)
        assert found("02:30", lines) == 200
    # A bookmark is found by its name.
    lines = timed(*AFTERNOON)
    assert found("rewrite", lines, Rewrite=100, rewrite=200) == 200
    assert found("REWRITE", lines, Rewrite=100) == 100
    assert found("far", lines, far=9999) == 400
    assert str(found("near", lines, far=9999)).startswith("no bookmark near: a moment is 14:03:07")
    # Each form has its value.
    other_cases: list[tuple[str, MomentSpec]] = [
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
    for other_words, other_moment in other_cases:
        with case(other_words):
            assert parse(other_words) == other_moment
    further: list[tuple[str, str]] = [
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
    for other_words, reason in further:
        with case(other_words):
            assert parse(other_words) == Problem(reason)  # type: ignore[arg-type]
    for other_words in ["", "   ", "\n"]:
        with case(other_words):
            problem = parse(other_words)
            assert isinstance(problem, Problem)
            assert "14:03:07, +95s, -10s, #12, 50%, start, live" in problem.words
    assert parse("2026-11-20\x1b[2J") == Problem("2026-11-20␛[2J is not a date and time")  # type: ignore[arg-type]
