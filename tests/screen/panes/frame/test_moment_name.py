"""The header names an earlier moment."""

from __future__ import annotations

from agentwatch.screen.panes.header import moment_name
from agentwatch.text.times import time_of_day
from tests.conftest import case

MORNING_MS = 1_793_610_000_000


def test_a_moment_is_named_by_its_time() -> None:
    """A moment with a recorded time is named by the time of day."""
    assert moment_name(MORNING_MS, 100, 200) == time_of_day(MORNING_MS)


def test_a_moment_without_a_time_is_named_by_its_share() -> None:
    """Without recorded times, a moment is named by its share of the bytes."""
    for offset, name in ((0, "0 %"), (125, "62 %"), (200, "100 %")):
        with case(f"{offset}, {name}"):
            assert moment_name(None, offset, 200) == name


def test_a_moment_of_an_empty_recording() -> None:
    """A recording without bytes has the moment 0 %."""
    assert moment_name(None, 0, 0) == "0 %"
