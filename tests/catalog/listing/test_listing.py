"""The list: groups in order, rows that stay where they are, and what is hidden."""

from __future__ import annotations

import sys
from dataclasses import replace

from agentwatch.agents.reported import State
from agentwatch.catalog.listing import Listing, Request, RowLine
from agentwatch.catalog.row_counts import counts
from agentwatch.catalog.standing import Ground, Standing
from tests.catalog.listing.made_rows import (
    DAY_MS,
    MINUTE_MS,
    NOW_MS,
    in_state,
    lines,
    listed,
    row,
)


def test_groups_have_a_fixed_order() -> None:
    """What needs the user comes first; a group without sessions has no heading."""
    states = [State.SUCCEEDED, State.SHELL, State.QUIET, State.WORKING, State.TURN_FAILED, State.ASKS]
    listing = listed([row(state.name, state) for state in states])
    assert lines(listing) == [
        *("# needs you 1", "ASKS", "# failed 1", "TURN_FAILED", "# working 1", "WORKING"),
        *("# quiet 1", "QUIET", "# your turn 1", "SHELL", "# ended 1", "SUCCEEDED"),
    ]
    assert lines(listed([row("a", State.UNKNOWN)])) == ["# ended 1", "a"]
    assert lines(listed([])) == []


def test_the_newest_session_is_at_the_top_at_first() -> None:
    """At first the sessions of a group are ordered by their last lines, also if they are found in parts."""
    first, second, third = (row(name, ago_ms=ago * MINUTE_MS) for name, ago in (("a", 1), ("b", 2), ("c", 3)))
    assert lines(listed([third, first, second]))[1:] == ["a", "b", "c"]
    listing = listed([first])
    listing.update([first, third, second], NOW_MS)
    assert lines(listing)[1:] == ["a", "b", "c"]


def test_a_row_does_not_move_when_its_session_goes_on() -> None:
    """A newer line of a session changes its row in place, and only that one line."""
    a, b = row("a"), row("b", ago_ms=2 * MINUTE_MS)
    listing = listed([a, b])
    newer = replace(b, seen_ms=NOW_MS, calls=5)
    update = listing.update([a, newer], NOW_MS)
    assert update == (False, (2,))
    assert update
    assert not listing.update([a, replace(newer, began_ms=1)], NOW_MS).is_rebuilt
    assert listing.update([a, newer], NOW_MS)
    line = listing.lines[2]
    assert isinstance(line, RowLine)
    assert line.row is newer
    assert listing.rows[newer.key] is newer
    assert not listing.update([a, replace(newer)], NOW_MS)


def test_a_row_goes_to_the_top_of_another_group() -> None:
    """A session that begins to need the user is the first of its group; the others stay."""
    rows = [row("a", State.ASKS), row("b", State.ASKS, ago_ms=2), row("c"), row("d", ago_ms=9)]
    listing = listed(rows)
    assert lines(listing) == ["# needs you 2", "b", "a", "# working 2", "d", "c"]
    rows[2] = in_state(rows[2], State.ASKS)
    assert listing.update(rows, NOW_MS).is_rebuilt
    assert lines(listing) == ["# needs you 3", "c", "b", "a", "# working 1", "d"]
    rows[2] = in_state(rows[2], State.WORKING)
    rows[3] = in_state(rows[3], State.SHELL)
    listing.update(rows, NOW_MS + 1)
    assert lines(listing) == ["# needs you 2", "b", "a", "# working 1", "c", "# your turn 1", "d"]


def test_a_process_that_is_found_late_is_no_news() -> None:
    """A session that seemed to have ended is placed by its last line, not above what happened since."""
    rows = [
        row("a"),
        row("x", State.UNKNOWN, ago_ms=9 * MINUTE_MS),
        row("y", State.FAILED, ago_ms=5 * MINUTE_MS),
    ]
    listing = listed(rows)
    works = Standing(State.WORKING, Ground.INFERRED)
    listing.update([rows[0], *(replace(each, standing=works) for each in rows[1:])], NOW_MS)
    assert lines(listing) == ["# working 3", "a", "y", "x"]


def test_a_session_that_is_resumed_goes_to_the_top() -> None:
    """A session that had ended and goes on has a newer line, or the agent says since when it works."""
    rows = [row("a"), row("x", State.FAILED, ago_ms=9), row("y", State.FAILED, ago_ms=9 * MINUTE_MS)]
    listing = listed(rows)
    rows[2] = in_state(rows[2], State.WORKING)
    listing.update(rows, NOW_MS)
    assert lines(listing)[:3] == ["# working 2", "y", "a"]


def test_a_session_that_ends_after_a_long_silence_is_the_last_to_have_ended() -> None:
    """A session is at the top of those that ended, however old its last line is."""
    rows = [
        row("a", State.SUCCEEDED),
        row("b", State.QUIET, ago_ms=9 * MINUTE_MS),
        row("c", State.QUIET, ago_ms=9),
    ]
    listing = listed(rows)
    ended = [
        replace(each, standing=Standing(State.UNFINISHED, Ground.INFERRED, each.seen_ms)) for each in rows[1:]
    ]
    listing.update([rows[0], *ended], NOW_MS)
    assert lines(listing) == ["# ended 3", "c", "b", "a"]


def test_a_session_without_times_is_placed_by_now() -> None:
    """A session without any time is at the end at first, and at the top of the next group."""
    bare = replace(row("bare", State.UNKNOWN, ago_ms=None), standing=Standing(State.UNKNOWN, Ground.UNKNOWN))
    listing = listed([bare, row("a")])
    works = replace(bare, standing=Standing(State.WORKING, Ground.INFERRED))
    listing.update([works, row("a")], NOW_MS)
    assert lines(listing) == ["# working 2", "bare", "a"]


def test_a_vanished_session_comes_back_to_its_place() -> None:
    """A file can be away for a moment while it is replaced."""
    rows = [row("a"), row("b", ago_ms=9), row("c", ago_ms=2)]
    listing = listed(rows)
    assert lines(listing)[1:] == ["c", "b", "a"]
    assert listing.update([rows[0], rows[2]], NOW_MS)
    assert lines(listing) == ["# working 2", "c", "a"]
    assert listing.index_of(rows[1].key) is None
    listing.update([rows[0], replace(rows[1], seen_ms=NOW_MS), rows[2]], NOW_MS)
    assert lines(listing)[1:] == ["c", "b", "a"]
    assert listing.index_of(rows[1].key) == 2


def test_changes_are_enough() -> None:
    """An owner that knows what has changed passes nothing else."""
    a, b = row("a"), row("b", ago_ms=2)
    listing = listed([a, b])
    assert listing.change([replace(a, calls=2)], (), NOW_MS) == (False, (2,))
    assert not listing.change([], [("claude", "unknown")], NOW_MS)
    assert listing.change([], [b.key], NOW_MS).is_rebuilt
    assert lines(listing) == ["# working 1", "a"]


def test_old_and_archived_sessions_are_hidden_and_counted() -> None:
    """A session that does not run is hidden after a week, or if it is archived. Its subagents go with it."""
    rows = [
        row("week", State.SUCCEEDED, ago_ms=7 * DAY_MS),
        row("old", State.SUCCEEDED, ago_ms=7 * DAY_MS + 1),
        row("sub", State.SUCCEEDED, parent=("claude", "old")),
        row("archived", State.FAILED, is_archived=True),
        row("runs", State.QUIET, ago_ms=30 * DAY_MS, is_archived=True),
        row("undated", State.UNKNOWN, ago_ms=None),
        row("began", State.UNKNOWN, ago_ms=None, began_ms=0),
    ]
    listing = listed(rows)
    assert lines(listing) == ["# quiet 1", "runs", "# ended 1", "week", "# ended 1", "undated"]
    assert listing.hidden_count == 3
    listing.request(Request(shows_hidden=True))
    assert listing.hidden_count == 0
    assert lines(listing)[2:] == [
        *("# ended 1", "archived", "# ended 2", "week", "old", "# ended 2", "undated", "began")
    ]
    assert not listing.update(rows, NOW_MS)


def test_a_session_becomes_old_although_nothing_else_happens() -> None:
    """The list hides a session when its week is over, so that it does not contradict the counts."""
    rows = [row("a", State.SUCCEEDED, ago_ms=6 * DAY_MS), row("b", State.FAILED, ago_ms=5 * DAY_MS), row("c")]
    listing = listed(rows)
    assert not listing.update(rows, NOW_MS + DAY_MS)
    assert listing.update(rows, NOW_MS + DAY_MS + 1).is_rebuilt
    assert lines(listing) == ["# working 1", "c", "# ended 1", "b"]
    assert listing.hidden_count == counts(rows, NOW_MS + DAY_MS + 1).hidden == 1
    assert listing.update(rows, NOW_MS + 2 * DAY_MS + 1).is_rebuilt
    assert not listing.update(rows, NOW_MS + 99 * DAY_MS)


def test_a_hidden_session_that_goes_on_appears() -> None:
    """A session that is continued after weeks is shown, although its group is the same."""
    old = row("old", State.SUCCEEDED, ago_ms=9 * DAY_MS)
    listing = listed([old])
    assert lines(listing) == []
    assert listing.update([replace(old, seen_ms=NOW_MS)], NOW_MS).is_rebuilt
    assert lines(listing) == ["# ended 1", "old"]


def test_a_filter_keeps_what_matches() -> None:
    """Headings count what is shown; the others are counted apart, and are not hidden."""
    rows = [
        row("a", repo="api"),
        row("b", repo="web"),
        row("c", State.SUCCEEDED, repo="api", ago_ms=9 * DAY_MS),
    ]
    listing = listed(rows, Request(filter="repo:api"))
    assert lines(listing) == ["# working 1", "a"]
    assert (listing.filtered_count, listing.hidden_count) == (1, 1)


def test_a_row_that_begins_to_match_appears() -> None:
    """A filter is applied to each new row, also if its group is the same."""
    rows = [row("a"), in_state(row("b"), State.WORKING, "make")]
    listing = listed(rows, Request(filter="pytest"))
    assert lines(listing) == []
    rows[1] = in_state(rows[1], State.WORKING, "pytest -q")
    assert listing.update(rows, NOW_MS).is_rebuilt
    assert lines(listing) == ["# working 1", "b"]


def test_a_subagent_that_matches_alone_is_shown() -> None:
    """A filter or a search shows a subagent whose parent does not match."""
    rows = [row("main", title="one"), row("sub", title="two", parent=("claude", "main"))]
    for wanted in (Request(filter="two"), Request(search="two")):
        assert lines(listed(rows, wanted)) == ["# working 1", "sub"]


def test_a_search_finds_what_is_hidden_and_folded() -> None:
    """Titles and prompts of all sessions are searched; each hit has its own row."""
    rows = [
        row("old", State.SUCCEEDED, ago_ms=9 * DAY_MS, title="Port the page"),
        row("one", State.SUCCEEDED, prompts="port it", is_one_liner=True),
        row("sub", State.SUCCEEDED, title="port", parent=("claude", "one"), ago_ms=5),
        row("other", State.SUCCEEDED),
    ]
    listing = listed(rows, Request(search="PORT"))
    assert lines(listing) == ["# ended 2", "sub", "one", "# ended 1", "old"]
    assert (listing.hidden_count, listing.filtered_count) == (0, 1)


def test_a_new_session_that_is_hidden_builds_no_line() -> None:
    """It is counted. One that is named as the parent of another, or is to be shown, changes the lines."""
    listing = listed([row("a"), row("sub", parent=("claude", "top"))])
    old = row("old", State.SUCCEEDED, ago_ms=8 * DAY_MS)
    assert not listing.change([old], [], NOW_MS)
    assert (listing.hidden_count, lines(listing)) == (1, ["# working 2", "sub", "a"])
    assert listing.change([replace(old, key=("claude", "top"))], [], NOW_MS).is_rebuilt
    assert (listing.hidden_count, lines(listing)) == (2, ["# working 1", "a"])
    listing.request(Request(shows_hidden=True))
    assert listing.change([replace(old, key=("claude", "shown"))], [], NOW_MS).is_rebuilt


def test_hidden_sessions_cost_nothing_when_others_move() -> None:
    """Arranging a session in another group takes as many calls beside 3,000 hidden ones as beside 30."""
    calls = []
    for count in (30, 3000):
        listing = Listing()
        old = [row(f"old{number}", State.SUCCEEDED, ago_ms=9 * DAY_MS) for number in range(count)]
        listing.update([row("a"), row("b"), *old], NOW_MS)
        seen: list[str] = []

        def note(_frame: object, event: str, _argument: object, seen: list[str] = seen) -> None:
            seen.append(event)

        sys.setprofile(note)
        listing.change([in_state(row("a"), State.ASKS)], (), NOW_MS)
        sys.setprofile(None)
        assert lines(listing) == ["# needs you 1", "a", "# working 1", "b"]
        assert listing.hidden_count == count
        calls.append(seen.count("call"))
    assert calls[0] == calls[1]
