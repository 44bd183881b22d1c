"""The header names an earlier moment, and how far it is behind the live end."""

from __future__ import annotations

import pytest

from agentwatch.screen.frame.as_of import as_of, moment_name
from agentwatch.screen.lines.format import time_of_day
from tests.builders.lines import delta, init, session
from tests.builders.moment.recorded_times import RecordedTimes

MORNING_MS = 1_793_610_000_000


def test_a_moment_is_named_by_its_time() -> None:
    """A moment with a recorded time is named by the time of day of the last line before it."""
    times = RecordedTimes([(0, MORNING_MS), (100, MORNING_MS + 60_000)], 200)
    assert moment_name(times, 100) == time_of_day(MORNING_MS)
    assert moment_name(times, 200) == time_of_day(MORNING_MS + 60_000)


@pytest.mark.parametrize(("offset", "name"), [(0, "0 %"), (125, "62 %"), (200, "100 %")])
def test_a_moment_without_a_time_is_named_by_its_share(offset: int, name: str) -> None:
    """Without recorded times, a moment is named by its share of the bytes."""
    assert moment_name(RecordedTimes([], 200), offset) == name


def test_a_moment_of_an_empty_recording() -> None:
    """A recording without bytes has the moment 0 %."""
    assert moment_name(RecordedTimes([], 0), 0) == "0 %"


def test_the_words_have_the_name_and_the_distance() -> None:
    """The header's words name the moment and count what is behind it."""
    shown, live = session(init(), is_over=False), session(init(), delta("a"), is_over=False)
    assert as_of(shown, live, RecordedTimes([], 200), 100, 40) == "as of 50 % · 1 event behind live: L"
