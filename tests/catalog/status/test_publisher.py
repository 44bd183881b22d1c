"""The counts of an open list are written when they change, and again before they are too old."""

from __future__ import annotations

from dataclasses import replace

from agentwatch.agents.reported import State
from agentwatch.catalog.status.counts import Counts
from agentwatch.catalog.status.file import FRESH_MS, read_limits, read_status
from agentwatch.catalog.status.publisher import Publisher
from agentwatch.session.limits import Reported
from tests.builders.machine.rows import NOW_MS, row

ASKS, WORKS = row(State.ASKS), row(State.WORKING)


def test_the_first_counts_are_written_at_once() -> None:
    """An open list is known to other processes as soon as it has found all sessions."""
    assert Publisher().publish({ASKS.key: ASKS}, NOW_MS)
    assert read_status(NOW_MS) == Counts(needs_you=1)


def test_changed_counts_are_written_within_a_second() -> None:
    """A change is written after a second at most, and not more often."""
    publisher, before, after = Publisher(), {ASKS.key: ASKS}, {WORKS.key: WORKS}
    publisher.publish(before, NOW_MS)
    assert not publisher.publish(after, NOW_MS + 999)
    assert read_status(NOW_MS) == Counts(needs_you=1)
    assert publisher.publish(after, NOW_MS + 1000)
    assert read_status(NOW_MS + 1000) == Counts(working=1)


def test_the_same_counts_stay_fresh() -> None:
    """Counts that do not change are fresh at any time, although rows change and they are written rarely."""
    publisher, rows = Publisher(), {ASKS.key: ASKS}
    written = sum(publisher.publish(dict(rows), NOW_MS + late) for late in range(0, 60_000, 250))
    assert written == 60_000 // (FRESH_MS // 2)
    assert read_status(NOW_MS + 59_750) == Counts(needs_you=1)


def test_a_clock_that_is_set_back_delays_nothing() -> None:
    """Counts with a time in the future are replaced."""
    publisher, rows = Publisher(), {ASKS.key: ASKS}
    publisher.publish(rows, NOW_MS + 3_600_000)
    assert publisher.publish(rows, NOW_MS)
    assert read_status(NOW_MS) == Counts(needs_you=1)


def test_the_limits_are_written_with_the_counts() -> None:
    """Limits that change are written although the counts are the same, and so is their age."""
    publisher, window = Publisher(), Reported("5h", 62.0, None, NOW_MS)
    rows = {ASKS.key: ASKS}
    publisher.publish(rows, NOW_MS)
    assert read_limits(NOW_MS) == ""
    limited = {ASKS.key: replace(ASKS, limits=(window,))}
    assert publisher.publish(limited, NOW_MS + 1000)
    assert read_limits(NOW_MS + 1000) == "claude 5 h 62 %"
    assert publisher.publish(limited, NOW_MS + 120_000)
    assert read_limits(NOW_MS + 120_000) == "claude 5 h 62 % · 2 min ago"
