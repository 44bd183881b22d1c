"""Places of vanished sessions and of folds are kept, within a bound."""

from __future__ import annotations

from agentwatch.agents.reported import State
from agentwatch.catalog.listing import Order
from tests.catalog.listing.made_rows import NOW_MS, lines, listed, row


def test_the_places_of_a_thousand_vanished_sessions_are_kept() -> None:
    """Of more than that, the first to vanish loses its place."""
    order = Order()
    rows = [row(f"{number}", ago_ms=number) for number in range(1_002)]
    order.place(rows, NOW_MS)
    order.forget(each.key for each in rows)
    assert len(order._places) == len(order._vanished) == 1_000
    order.place([row("0", ago_ms=5_000), row("500", ago_ms=5_000)], NOW_MS)
    assert order.in_group(row("0"))[0] == NOW_MS - 5_000
    assert order.in_group(row("500"))[0] == NOW_MS - 500


def test_the_places_of_ten_thousand_folds_are_kept() -> None:
    """Of more folds than that, the first one loses its place."""
    order = Order()
    order.place([row("a", ago_ms=5), row("b", ago_ms=9)], NOW_MS)
    for number in range(10_001):
        assert order.of_fold(("repository", f"{number}"), [row("a")])[0] == NOW_MS - 5
    assert order.of_fold(("repository", "0"), [row("b")])[0] == NOW_MS - 9
    assert order.of_fold(("repository", "5000"), [row("b")])[0] == NOW_MS - 5


def test_a_session_is_placed_by_its_last_line_once_that_is_read() -> None:
    """Until then it is placed by the time of its file, which a copy or a backup may have changed."""
    files = [row("old", State.UNKNOWN, ago_ms=1), row("new", State.UNKNOWN, ago_ms=2)]
    listing = listed(files)
    assert lines(listing) == ["# ended 2", "old", "new"]
    listing.update([row("old", State.SUCCEEDED, ago_ms=9_000), row("new", State.SUCCEEDED, ago_ms=8)], NOW_MS)
    assert lines(listing) == ["# ended 2", "new", "old"]
    listing.update([row("old", State.FAILED, ago_ms=1), row("new", State.SUCCEEDED, ago_ms=8)], NOW_MS)
    assert lines(listing) == ["# ended 2", "new", "old"]
