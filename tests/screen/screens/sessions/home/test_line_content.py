"""What a row of the list shows is kept for as long as it is the same."""

from __future__ import annotations

from agentwatch.agents.reported import State
from agentwatch.catalog.listing import RowLine
from agentwatch.catalog.standing import Ground, Standing
from agentwatch.recording.acts import Act
from agentwatch.screen.screens.sessions.list import LineContent, times_of
from tests.catalog.listing.made_rows import DAY_MS, MINUTE_MS, NOW_MS, row
from tests.conftest import case


def test_a_row_shows_the_same_at_its_times() -> None:
    """No clock moves within them. They end within a second, or within a minute once a session has ended."""
    content = LineContent()
    content.fit(160)
    calling = Standing(State.WORKING, Ground.SAID, NOW_MS - 4321, "make", NOW_MS - 1234)
    for name, shown, most_ms in (
        ("runs", row("a", standing=calling, began_ms=NOW_MS - 9876), 1000),
        ("is lost", row("a", lost_ms=NOW_MS - 777), 1000),
        ("has just ended", row("a", State.SUCCEEDED, began_ms=NOW_MS - 30_500), 1000),
        ("has ended", row("a", State.SUCCEEDED, began_ms=NOW_MS - 5 * MINUTE_MS - 999), MINUTE_MS),
        (
            "acted",
            row(
                "a", State.SUCCEEDED, ago_ms=3 * DAY_MS, acts=[Act(NOW_MS - 4321, "stop", "", "", "", "sent")]
            ),
            1000,
        ),
        ("ended long ago", row("a", State.SUCCEEDED, ago_ms=3 * DAY_MS), MINUTE_MS),
    ):
        with case(name):
            line = RowLine(shown)
            times = times_of(line, NOW_MS)
            assert times.start == NOW_MS
            assert 0 < len(times) <= most_ms
            content.measure([shown], NOW_MS)
            at_first = content.spans(line, 0, NOW_MS)
            assert all(content.spans(line, 0, at_ms) == at_first for at_ms in times[:: len(times) // 20 or 1])
            assert content.spans(line, 0, times[-1]) == at_first
