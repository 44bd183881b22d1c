"""The times of a recording lead to its moments, and its moments to their times."""

from __future__ import annotations

import pytest

from agentwatch.feed.timeline import RecordedTimes
from agentwatch.session import Place

LINE_BYTES = 10


@pytest.mark.parametrize("count", [9, 20_000], ids=["in memory", "in the file"])
def test_lines_that_arrived_together_are_one_moment(count: int) -> None:
    """The moment at a time follows the last of three lines that arrived at it."""
    timeline = RecordedTimes(-1)
    for number in range(count):
        timeline.note(Place(number * LINE_BYTES, LINE_BYTES - 1, 1000 + number // 3))
    for number in range(0, count, max(count // 50, 1)):
        end = min((number // 3 + 1) * 3, count) * LINE_BYTES
        assert timeline.offset_at(1000 + number // 3) == end
        assert timeline.ms_at((number + 1) * LINE_BYTES) == 1000 + number // 3
