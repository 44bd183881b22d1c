"""The times of a recording lead to its moments, and its moments to their times."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.feed.timeline import RecordedTimes
from agentwatch.session.call import Pieces, Place
from tests.conftest import case

LINE_BYTES = 10


def timeline_of(folder: Path, lines: int) -> RecordedTimes:
    """Return the timeline of a recording with lines of ten bytes, of which none was noted yet."""
    path = folder / "lines"
    path.write_bytes(b"123456789\n" * lines)
    return RecordedTimes(os.open(path, os.O_RDONLY))


def test_moments_and_times_lead_to_each_other(tmp_path: Path) -> None:
    """The moment at a time follows the last line that arrived at it, also of a burst; the times around a
    time are found, and lines after the clock was put back have the time before that.
    """
    for count in [9, 20_000]:
        with case(count):
            timeline = timeline_of(tmp_path, count)
            for number in range(count):
                timeline.note(Place(number * LINE_BYTES, LINE_BYTES - 1, 1000 + number // 3))
            for number in range(0, count, max(count // 50, 1)):
                end = min((number // 3 + 1) * 3, count) * LINE_BYTES
                assert timeline.offset_at(1000 + number // 3) == end
                assert timeline.ms_at((number + 1) * LINE_BYTES) == 1000 + number // 3
    for count in [9, 20_000]:
        with case(count):
            timeline = timeline_of(tmp_path, count)
            for number in range(count):
                timeline.note(Place(number * LINE_BYTES, LINE_BYTES - 1, 1000 + 10 * number))
            last_ms = 1000 + 10 * (count - 1)
            assert timeline.around(999) == (None, 1000)
            for at_ms in range(1000, last_ms, 10 * max(count // 500, 1)):
                assert timeline.around(at_ms) == (at_ms, at_ms + 10)
                assert timeline.around(at_ms + 9.5) == (at_ms, at_ms + 10)
            assert timeline.around(last_ms) == (last_ms, None)
    timeline = timeline_of(tmp_path, 5)
    timeline.note(Place(0, 49, 4000), Pieces(1000, 1000, (10, 20, 40), (2000, 3000, 4000)))
    assert [timeline.offset_at(ms) for ms in (999, 1000, 1999, 2000, 3000, 4000)] == [0, 10, 10, 20, 40, 50]
    assert [timeline.ms_at(offset) for offset in range(10, 60, 10)] == [1000, 2000, 3000, 3000, 4000]
    timeline = timeline_of(tmp_path, 4)
    for number, seen_ms in enumerate((5000, 1000, None, 6000)):
        timeline.note(Place(number * LINE_BYTES, LINE_BYTES - 1, seen_ms))
    assert [timeline.ms_at(offset) for offset in range(10, 50, 10)] == [5000, 5000, 5000, 6000]
    assert (timeline.offset_at(5999), timeline.offset_at(6000)) == (30, 40)
