"""The list: groups in order, rows that stay where they are, and what is hidden."""

import random
import sys
from itertools import pairwise

import pytest

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.catalog.hiding import is_hidden, root
from agentwatch.catalog.listing import FoldLine, Heading, Listing, Order, Request, RowLine, Sort, row_search
from agentwatch.catalog.row import Row
from agentwatch.catalog.row_counts import ended_ms
from agentwatch.catalog.row_filter import row_filter
from agentwatch.catalog.session_status import Ground, Group, SessionStatus
from agentwatch.catalog.status import midnight
from tests.catalog.listing.made_rows import (
    ASKING,
    DAY_MS,
    MINUTE_MS,
    NOW_MS,
    in_state,
    lines,
    listed,
    row,
    toggle,
)
from tests.conftest import case


def test_the_groups_and_their_first_order() -> None:
    """What needs the user comes first; the sessions of a group are ordered by their last lines at first."""
    # What needs the user comes first; a group without sessions has no heading.
    states = [State.SUCCEEDED, State.SHELL, State.QUIET, State.WORKING, State.TURN_FAILED, State.ASKS]
    listing = listed([row(state.name, state) for state in states])
    assert lines(listing) == [
        *("# needs you 1", "ASKS", "# failed 1", "TURN_FAILED", "# working 1", "WORKING"),
        *("# quiet 1", "QUIET", "# your turn 1", "SHELL", "# ended 1", "SUCCEEDED"),
    ]
    assert lines(listed([row("a", State.UNKNOWN)])) == ["# ended 0 + 1", "a"]
    assert lines(listed([])) == []
    # At first the sessions of a group are ordered by their last lines, also if they are found in parts.
    first, second, third = (row(name, ago_ms=ago * MINUTE_MS) for name, ago in (("a", 1), ("b", 2), ("c", 3)))
    assert lines(listed([third, first, second]))[1:] == ["a", "b", "c"]
    listing = listed([first])
    listing.update([first, third, second], NOW_MS)
    assert lines(listing)[1:] == ["a", "b", "c"]
    # A session without any time is at the end at first, and at the top of the next group.
    bare = row("bare", State.UNKNOWN, ago_ms=None)._replace(
        status=SessionStatus(State.UNKNOWN, Ground.UNKNOWN)
    )
    listing = listed([bare, row("a")])
    works = bare._replace(status=SessionStatus(State.WORKING, Ground.INFERRED))
    listing.update([works, row("a")], NOW_MS)
    assert lines(listing) == ["# working 2", "bare", "a"]
    # Until then it is placed by the time of its file, which a copy or a backup may have changed.
    files = [row("old", State.UNKNOWN, ago_ms=1), row("new", State.UNKNOWN, ago_ms=2)]
    listing = listed(files)
    assert lines(listing) == ["# ended 0 + 2", "old", "new"]
    listing.update([row("old", State.SUCCEEDED, ago_ms=9_000), row("new", State.SUCCEEDED, ago_ms=8)], NOW_MS)
    assert lines(listing) == ["# ended 2", "new", "old"]
    listing.update([row("old", State.FAILED, ago_ms=1), row("new", State.SUCCEEDED, ago_ms=8)], NOW_MS)
    assert lines(listing) == ["# ended 2", "new", "old"]


def test_a_row_does_not_move_when_its_session_goes_on() -> None:
    """A newer line of a session changes its row in place, and only that one line."""
    a, b = row("a"), row("b", ago_ms=2 * MINUTE_MS)
    listing = listed([a, b])
    newer = b._replace(seen_ms=NOW_MS, calls=5)
    assert not listing.update([a, newer], NOW_MS)
    assert not listing.update([a, newer._replace(began_ms=1)], NOW_MS)
    assert not listing.update([a, newer], NOW_MS)
    line = listing.lines[2]
    assert isinstance(line, RowLine)
    assert line.row is newer
    assert listing.rows[newer.key] is newer
    assert not listing.update([a, newer._replace()], NOW_MS)
    # A file can be away for a moment while it is replaced.
    rows = [row("a"), row("b", ago_ms=9), row("c", ago_ms=2)]
    listing = listed(rows)
    assert lines(listing)[1:] == ["c", "b", "a"]
    assert listing.update([rows[0], rows[2]], NOW_MS)
    assert lines(listing) == ["# working 2", "c", "a"]
    listing.update([rows[0], rows[1]._replace(seen_ms=NOW_MS), rows[2]], NOW_MS)
    assert lines(listing)[1:] == ["c", "b", "a"]
    # An owner that knows what has changed passes nothing else.
    a, b = row("a"), row("b", ago_ms=2)
    listing = listed([a, b])
    assert not listing.change([a._replace(calls=2)], (), NOW_MS)
    assert [line.row.calls for line in listing.lines[1:] if isinstance(line, RowLine)] == [None, 2]
    assert not listing.change([], [("claude", "unknown")], NOW_MS)
    assert listing.change([], [b.key], NOW_MS)
    assert lines(listing) == ["# working 1", "a"]


def test_a_row_goes_to_the_top_of_another_group() -> None:
    """A session that needs the user, is resumed or ends is the first of its group; the others stay."""
    rows = [row("a", State.ASKS), row("b", State.ASKS, ago_ms=2), row("c"), row("d", ago_ms=9)]
    listing = listed(rows)
    assert lines(listing) == ["# needs you 2", "b", "a", "# working 2", "d", "c"]
    rows[2] = in_state(rows[2], State.ASKS)
    assert listing.update(rows, NOW_MS)
    assert lines(listing) == ["# needs you 3", "c", "b", "a", "# working 1", "d"]
    rows[2] = in_state(rows[2], State.WORKING)
    rows[3] = in_state(rows[3], State.SHELL)
    listing.update(rows, NOW_MS + 1)
    assert lines(listing) == ["# needs you 2", "b", "a", "# working 1", "c", "# your turn 1", "d"]
    # A session that seemed to have ended is placed by its last line, not above what happened since.
    rows = [
        row("a"),
        row("x", State.UNKNOWN, ago_ms=9 * MINUTE_MS),
        row("y", State.FAILED, ago_ms=5 * MINUTE_MS),
    ]
    listing = listed(rows)
    works = SessionStatus(State.WORKING, Ground.INFERRED)
    listing.update([rows[0], *(each._replace(status=works) for each in rows[1:])], NOW_MS)
    assert lines(listing) == ["# working 3", "a", "y", "x"]
    # A session that had ended and goes on has a newer line, or the agent says since when it works.
    rows = [row("a"), row("x", State.FAILED, ago_ms=9), row("y", State.FAILED, ago_ms=9 * MINUTE_MS)]
    listing = listed(rows)
    rows[2] = in_state(rows[2], State.WORKING)
    listing.update(rows, NOW_MS)
    assert lines(listing)[:3] == ["# working 2", "y", "a"]
    # A session is at the top of those that ended, however old its last line is.
    rows = [
        row("a", State.SUCCEEDED),
        row("b", State.QUIET, ago_ms=9 * MINUTE_MS),
        row("c", State.QUIET, ago_ms=9),
    ]
    listing = listed(rows)
    ended = [
        each._replace(status=SessionStatus(State.UNFINISHED, Ground.INFERRED, each.seen_ms))
        for each in rows[1:]
    ]
    listing.update([rows[0], *ended], NOW_MS)
    assert lines(listing) == ["# ended 3", "c", "b", "a"]


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
    assert lines(listing) == ["# quiet 1", "runs", "# ended 1", "week", "# ended 0 + 1", "undated"]
    assert listing.hidden_count == 3
    listing.request(Request(shows_hidden=True))
    assert listing.hidden_count == 0
    assert lines(listing)[2:] == [
        *("# ended 0 + 1", "archived", "# ended 2", "week", "old", "# ended 0 + 2", "undated", "began")
    ]
    assert not listing.update(rows, NOW_MS)
    # The list hides a session when its week is over, so that it does not contradict the counts.
    rows = [row("a", State.SUCCEEDED, ago_ms=6 * DAY_MS), row("b", State.FAILED, ago_ms=5 * DAY_MS), row("c")]
    listing = listed(rows)
    assert not listing.update(rows, NOW_MS + DAY_MS)
    assert listing.update(rows, NOW_MS + DAY_MS + 1)
    assert lines(listing) == ["# working 1", "c", "# ended 1", "b"]
    assert listing.hidden_count == 1
    assert listing.update(rows, NOW_MS + 2 * DAY_MS + 1)
    assert not listing.update(rows, NOW_MS + 99 * DAY_MS)
    # A session that is continued after weeks is shown, although its group is the same.
    old = row("old", State.SUCCEEDED, ago_ms=9 * DAY_MS)
    listing = listed([old])
    assert lines(listing) == []
    assert listing.update([old._replace(seen_ms=NOW_MS)], NOW_MS)
    assert lines(listing) == ["# ended 1", "old"]
    # It is counted. One that is named as the parent of another, or is to be shown, changes the lines.
    listing = listed([row("a"), row("sub", parent=("claude", "top"))])
    old = row("old", State.SUCCEEDED, ago_ms=8 * DAY_MS)
    assert not listing.change([old], [], NOW_MS)
    assert (listing.hidden_count, lines(listing)) == (1, ["# working 2", "sub", "a"])
    assert listing.change([old._replace(key=("claude", "top"))], [], NOW_MS)
    assert (listing.hidden_count, lines(listing)) == (2, ["# working 1", "a"])
    listing.request(Request(shows_hidden=True))
    assert listing.change([old._replace(key=("claude", "shown"))], [], NOW_MS)


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
    # A filter is applied to each new row, also if its group is the same.
    rows = [row("a"), in_state(row("b"), State.WORKING, "make")]
    listing = listed(rows, Request(filter="pytest"))
    assert lines(listing) == []
    rows[1] = in_state(rows[1], State.WORKING, "pytest -q")
    assert listing.update(rows, NOW_MS)
    assert lines(listing) == ["# working 1", "b"]
    # A filter or a search shows a subagent whose parent does not match.
    rows = [row("main", title="one"), row("sub", title="two", parent=("claude", "main"))]
    for wanted in (Request(filter="two"), Request(search="two")):
        assert lines(listed(rows, wanted)) == ["# working 1", "sub"]


def test_a_search_finds_what_is_hidden_and_folded() -> None:
    """All words must occur in the title or a prompt; each hit has its own row."""
    # Titles and prompts of all sessions are searched.
    rows = [
        row("old", State.SUCCEEDED, ago_ms=9 * DAY_MS, title="Port the page"),
        row("one", State.SUCCEEDED, prompts="port it", is_one_liner=True),
        row("sub", State.SUCCEEDED, title="port", parent=("claude", "one"), ago_ms=5),
        row("other", State.SUCCEEDED),
    ]
    listing = listed(rows, Request(search="PORT"))
    assert lines(listing) == ["# ended 1 + 1", "sub", "one", "# ended 1", "old"]
    assert (listing.hidden_count, listing.filtered_count) == (0, 1)
    # Blanks do not search.
    assert row_search(" \t ") is None
    cases: list[tuple[str, bool]] = [
        ("port", True),
        ("PLEASE tests", True),
        ("page it", True),
        ("npm", False),
        ("port npm", False),
    ]
    for text, is_match in cases:
        with case(text):
            matches = row_search(text)
            assert matches is not None
            assert matches(ASKING) is is_match


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


def test_subagents_are_folded_below_their_session() -> None:
    """A row opens to its subagents and to theirs, all one step deeper; these are changed in place too."""
    main = row("main", subagents=2)
    sub = row("sub", ago_ms=5, parent=main.key)
    deep = row("deep", State.SUCCEEDED, parent=sub.key)
    listing = listed([main, sub, deep])
    assert lines(listing) == ["# working 1", "main"]
    assert not listing.update([main, sub._replace(calls=1), deep], NOW_MS)
    toggle(listing, "main")
    assert lines(listing) == ["# working 1", "main", ". sub", ". deep"]
    assert not listing.update([main, sub, deep], NOW_MS)
    assert [line.is_open for line in listing.lines if isinstance(line, RowLine)] == [True, False, False]
    toggle(listing, "main")
    assert lines(listing) == ["# working 1", "main"]
    # A question is not folded away; when it is answered, the subagent is folded again.
    main = row("main")
    sub = row("sub", State.ASKS, parent=main.key)
    listing = listed([main, sub])
    assert lines(listing) == ["# needs you 1", "sub", "# working 1", "main"]
    listing.update([main, in_state(sub, State.WORKING)], NOW_MS)
    assert lines(listing) == ["# working 1", "main"]
    # A missing parent, and parents in a circle, do not lose a session.
    orphan = row("orphan", parent=("claude", "gone"))
    circle = [row("x", parent=("claude", "y")), row("y", parent=("claude", "x"), ago_ms=9)]
    assert lines(listed([orphan])) == ["# working 1", "orphan"]
    assert lines(listed(circle)) == ["# working 2", "y", "x"]


def test_one_liners_are_folded_per_folder() -> None:
    """What other programs ran for one prompt is one line for each folder, below all days."""
    # One that works, or that is alone in its folder, has its own row.
    rows = [
        row("own", State.SUCCEEDED),
        *(row(f"a{n}", State.SUCCEEDED, cwd="/w/api", repo="api", is_one_liner=True) for n in range(3)),
        row("b", State.SUCCEEDED, cwd="/w/web", repo="", is_one_liner=True, ago_ms=1),
        row("c", State.SUCCEEDED, is_one_liner=True, ago_ms=2 * MINUTE_MS),
        row("works", cwd="/w/api", is_one_liner=True),
    ]
    listing = listed(rows)
    assert lines(listing) == [
        *("# working 1", "works", "# ended 1 + 2", "b", "own", "c"),
        *("# one-liners 3", "+ 3 one-liners in api"),
    ]
    toggle(listing, "3 one-liners")
    assert lines(listing)[7:] == ["- 3 one-liners in api", ". a2", ". a1", ". a0"]
    toggle(listing, "3 one-liners")
    assert lines(listing)[6:] == ["# one-liners 3", "+ 3 one-liners in api"]
    # New one-liners are counted in their fold, which does not move.
    rows = [
        *(row(f"a{n}", State.SUCCEEDED, cwd="/a", is_one_liner=True, ago_ms=9) for n in range(2)),
        *(row(f"b{n}", State.SUCCEEDED, cwd="/b", is_one_liner=True, ago_ms=99) for n in range(2)),
    ]
    listing = listed(rows)
    listing.update([*rows, row("new", State.SUCCEEDED, cwd="/b", is_one_liner=True, ago_ms=0)], NOW_MS)
    assert lines(listing) == ["# one-liners 5", "+ 2 one-liners in /a", "+ 3 one-liners in /b"]
    fold = listing.lines[2]
    assert isinstance(fold, FoldLine)
    assert fold.keys == (("claude", "new"), ("claude", "b1"), ("claude", "b0"))


def test_sessions_that_have_ended_are_below_their_days() -> None:
    """Each day has a heading with the number of its sessions; a session without a time is last."""
    midnight_ms = midnight(NOW_MS)
    since = NOW_MS - midnight_ms
    rows = [
        row("late", State.SUCCEEDED, ago_ms=since - 1),
        row("first", State.FAILED, ago_ms=since),
        row("yesterday", State.SUCCEEDED, ago_ms=since + 1),
        row("older", State.CANCELLED, ago_ms=since + 3 * DAY_MS),
        row("undated", State.UNKNOWN, ago_ms=None),
    ]
    listing = listed(rows)
    assert lines(listing) == [
        *("# ended 2", "late", "first", "# ended 1", "yesterday"),
        *("# ended 1", "older", "# ended 0 + 1", "undated"),
    ]
    days = [line.day_ms for line in listing.lines if isinstance(line, Heading)]
    assert days[0] == midnight_ms
    assert days == sorted(days, key=lambda day_ms: -(day_ms or 0))
    far = 10**18
    assert lines(listed([row("far", State.SUCCEEDED, ago_ms=-far)])) == ["# ended 1", "far"]
    # Without groups, the sessions are ordered by their beginnings, which do not change.
    rows = [row("a", began_ms=3), row("b", State.ASKS, began_ms=9), row("c", State.SUCCEEDED, began_ms=5)]
    listing = listed([*rows, row("new")], Request(sort=Sort.AGE))
    assert lines(listing) == ["new", "b", "c", "a"]
    late = [rows[0]._replace(began_ms=7), *rows[1:]]
    assert listing.update(late, NOW_MS)
    assert lines(listing) == ["b", "a", "c"]


def test_by_repository_the_worktrees_are_folded() -> None:
    """A repository is open while a session in it runs; two sessions of a worktree are folded below it."""
    rows = [
        row("main", State.ASKS, repo="api", ago_ms=1),
        row("done", State.SUCCEEDED, repo="api", ago_ms=2),
        row("tree", repo="api", worktree="retry", ago_ms=3),
        row("old", State.SUCCEEDED, repo="api", worktree="docs", ago_ms=4),
        row("older", State.SUCCEEDED, repo="api", worktree="docs", ago_ms=5),
        row("web", State.FAILED, repo="web", ago_ms=5),
        row("bare", State.UNKNOWN, ago_ms=6),
    ]
    listing = listed(rows, Request(sort=Sort.REPOSITORY))
    assert lines(listing) == [
        *("- api · 1 needs you · 1 working · 3 ended", "main", "tree", "done"),
        *(". + docs · 2 ended", "+ web · 1 ended", "+ no folder · 1 ended"),
    ]
    toggle(listing, "docs")
    toggle(listing, "web")
    assert lines(listing)[4:9] == [". - docs · 2 ended", ". old", ". older", "- web · 1 ended", "web"]
    toggle(listing, "api")
    assert lines(listing)[:2] == ["+ api · 1 needs you · 1 working · 3 ended", "- web · 1 ended"]
    # The repository of a question is the first one, with the question on top; no folder is the last.
    rows = [
        row("bare", repo="", ago_ms=1),
        row("quick", repo="api", ago_ms=2),
        row("asks", State.ASKS, repo="web", ago_ms=8),
        row("works", repo="web", ago_ms=3),
        row("failed", State.TURN_FAILED, repo="web", ago_ms=9),
    ]
    listing = listed(rows, Request(sort=Sort.REPOSITORY))
    order = [line.lstrip("- ").partition(" ·")[0] for line in lines(listing)]
    assert order == ["web", "asks", "failed", "works", "api", "quick", "no folder", "bare"]
    listing.update(
        [in_state(rows[0], State.ASKS), *rows[1:2], in_state(rows[2], State.WORKING), *rows[3:]], NOW_MS
    )
    assert lines(listing)[:3] == ["- no folder · 1 needs you", "bare", "- web · 1 failed · 2 working"]
    # A repository that was open because a session ran stays open when it has ended.
    rows = [row("a", repo="api"), row("b", State.SUCCEEDED, repo="api", ago_ms=9)]
    listing = listed(rows, Request(sort=Sort.REPOSITORY))
    rows[0] = in_state(rows[0], State.SUCCEEDED)
    listing.update(rows, NOW_MS)
    assert lines(listing) == ["- api · 2 ended", "a", "b"]
    # A repository on another machine is another one, and has the machine's name.
    rows = [row("a", repo="api"), row("b", repo="api", host="box", ago_ms=9)]
    assert lines(listed(rows, Request(sort=Sort.REPOSITORY))) == [
        *("- box:api · 1 working", "b", "- api · 1 working", "a")
    ]


def test_a_bounded_number_of_places_is_kept() -> None:
    """Of 1,000 vanished sessions and of 10,000 folds; of more, the first one loses its place."""
    order = Order()
    rows = [row(f"{number}", ago_ms=number) for number in range(1_002)]
    order.place(rows, NOW_MS)
    order.forget(each.key for each in rows)
    assert len(order._places) == len(order._vanished) == 1_000
    order.place([row("0", ago_ms=5_000), row("500", ago_ms=5_000)], NOW_MS)
    assert order.in_group(row("0"))[0] == NOW_MS - 5_000
    assert order.in_group(row("500"))[0] == NOW_MS - 500
    order = Order()
    order.place([row("a", ago_ms=5), row("b", ago_ms=9)], NOW_MS)
    for number in range(10_001):
        assert order.of_fold(("repository", f"{number}"), [row("a")])[0] == NOW_MS - 5
    assert order.of_fold(("repository", "0"), [row("b")])[0] == NOW_MS - 9
    assert order.of_fold(("repository", "5000"), [row("b")])[0] == NOW_MS - 5


# Whatever happens to the sessions, no row moves within its group and none is lost.

STATES = list(State)


def any_row(random_: random.Random, name: str, known: list[Row]) -> Row:
    """Return a new session of any kind."""
    return row(
        name,
        random_.choice(STATES),
        ago_ms=random_.randrange(12) * DAY_MS,
        parent=random_.choice(known).key if known and random_.random() < 0.3 else None,
        repo=random_.choice(["api", "web", ""]),
        worktree=random_.choice(["", "", "retry"]),
        cwd=random_.choice(["/api", "/web"]),
        is_one_liner=random_.random() < 0.3,
        is_archived=random_.random() < 0.1,
        began_ms=random_.choice([None, random_.randrange(NOW_MS)]),
    )


def changed(random_: random.Random, rows: dict[Key, Row], step: int) -> dict[Key, Row]:
    """Return the sessions a moment later: some changed, a few new, one gone."""
    later = dict(rows)
    for key in random_.sample(sorted(rows), min(4, len(rows))):
        old = later[key]
        later[key] = (
            in_state(old, random_.choice(STATES))
            if random_.random() < 0.5
            else old._replace(calls=step, seen_ms=NOW_MS + step)
        )
    for number in range(random_.randrange(3)):
        new = any_row(random_, f"{step}.{number}", list(later.values()))
        later[new.key] = new
    if later and random_.random() < 0.3:
        del later[random_.choice(sorted(later))]
    return later


def order_by_group(listing: Listing) -> dict[Group, list[Key]]:
    """Return the keys of the rows of each group from the top, without those in folds."""
    groups: dict[Group, list[Key]] = {}
    group = None
    for line in listing.lines:
        if isinstance(line, Heading):
            group = groups.setdefault(line.group, [])
        elif isinstance(line, RowLine) and not line.depth and group is not None:
            group.append(line.row.key)
    return groups


def assert_nothing_is_lost(listing: Listing, wanted: Request) -> None:
    """Check that each session is in one line, in one fold, below its session, or counted."""
    rows = listing.rows
    in_lines = [line.row.key for line in listing.lines if isinstance(line, RowLine)]
    assert len(in_lines) == len(set(in_lines))
    folds = [line for line in listing.lines if isinstance(line, FoldLine)]
    seen = {*in_lines, *(key for fold in folds for key in fold.keys)}
    matches = row_filter(wanted.filter)
    matching = {key: each for key, each in rows.items() if matches is None or matches(each)}
    assert listing.filtered_count == len(rows) - len(matching)
    hidden = 0
    for key, each in matching.items():
        top = root(each, matching)
        is_away = not wanted.shows_hidden and is_hidden(root(each, rows), NOW_MS)
        hidden += is_away and root(each, rows) is each
        assert (key in seen or top.key in seen) is not is_away, key
    assert listing.hidden_count == hidden
    for line in listing.lines:
        if isinstance(line, RowLine):
            assert line.row is rows[line.row.key]


def test_no_row_moves_within_its_group() -> None:
    """Two rows that stay in their group keep their order, through any updates but the first reading."""
    for seed in range(12):
        with case(f"seed {seed}"):
            random_ = random.Random(seed)
            listing, rows = Listing(), dict[Key, Row]()
            before: dict[Group, list[Key]] = {}
            for step in range(60):
                old, rows = rows, changed(random_, rows, step)
                is_rebuilt = listing.update(rows.values(), NOW_MS)
                after = order_by_group(listing)
                for group, keys in after.items():
                    earlier = before.get(group, [])
                    stayed = {key for key in earlier if key in keys and stays(old[key], rows[key])}
                    assert [key for key in keys if key in stayed] == [key for key in earlier if key in stayed]
                if not is_rebuilt:
                    assert after == before
                before = after


def stays(old: Row, new: Row) -> bool:
    """Return whether a session has to keep its place."""
    is_read = old.status.state is State.UNKNOWN and new.status.state is not State.UNKNOWN
    is_of_day = new.group is not Group.ENDED or midnight(ended_ms(old)) == midnight(ended_ms(new))
    return old.group is new.group and is_of_day and not is_read


@pytest.mark.system
def test_no_session_is_lost() -> None:
    """Each session is shown, folded or counted, in each order and with any folds."""
    for seed in range(12):
        with case(f"seed {seed}"):
            random_ = random.Random(seed)
            listing, rows = Listing(), dict[Key, Row]()
            wanted = Request()
            for step in range(60):
                rows = changed(random_, rows, step)
                listing.update(rows.values(), NOW_MS)
                assert_nothing_is_lost(listing, wanted)
                if step % 5 == 0:
                    wanted = Request(
                        random_.choice(["", "", "repo:api", "working asks"]),
                        random_.choice(list(Sort)),
                        shows_hidden=random_.random() < 0.5,
                    )
                    listing.request(wanted)
                    assert_nothing_is_lost(listing, wanted)
                foldable = [line for line in listing.lines if not isinstance(line, Heading)]
                if foldable:
                    listing.toggle(random_.choice(foldable))
                    assert_nothing_is_lost(listing, wanted)


def test_updates_in_place_are_those_of_a_new_list() -> None:
    """An update in place leaves the lines that a full one would make."""
    for seed in range(6):
        with case(f"seed {seed}"):
            random_ = random.Random(seed)
            listing, rows = Listing(), dict[Key, Row]()
            for step in range(60):
                rows = changed(random_, rows, step)
                listing.update(rows.values(), NOW_MS)
                kept = list(listing.lines)
                listing.request(Request())
                assert kept == list(listing.lines)
            groups = [line.group for line in listing.lines if isinstance(line, Heading)]
            order = list(Group)
            assert all(order.index(first) <= order.index(second) for first, second in pairwise(groups))


def test_an_empty_list_shows_the_newest_older_sessions() -> None:
    """They have a heading, and leave with the first session that is not hidden; archived ones stay hidden."""
    names = [f"o{number:02}" for number in range(30)]
    old = [row(name, State.SUCCEEDED, ago_ms=(10 + at) * DAY_MS, title=name) for at, name in enumerate(names)]
    listing = listed(old)
    assert lines(listing) == []
    listing.offer_older(is_offered=True)
    assert lines(listing)[:3] == ["# older 20 of 30", "# ended 1", "o00"]
    assert len([line for line in listing.lines if isinstance(line, RowLine)]) == 20
    assert listing.hidden_count == 10
    # One that is read later keeps its place, and one that comes later gets its own.
    listing.change([old[3]._replace(title="read")], [], NOW_MS)
    assert any(isinstance(line, RowLine) and line.row.title == "read" for line in listing.lines)
    listing.change([row("new", State.SUCCEEDED, ago_ms=9 * DAY_MS)], [], NOW_MS)
    assert lines(listing)[:3] == ["# older 20 of 31", "# ended 1", "new"]
    # The filter chooses among them.
    listing.request(Request(filter="o29"))
    assert lines(listing) == ["# older 1 of 1", "# ended 1", "o29"]
    listing.request(Request(filter="nothing"))
    assert lines(listing) == []
    listing.request(Request(shows_hidden=True))
    assert lines(listing)[0] == "# ended 1"
    # A session that is not hidden takes their place.
    listing.request(Request())
    works = row("works", ago_ms=0)
    listing.change([works], [], NOW_MS)
    assert lines(listing) == ["# working 1", "works"]
    listing.change([], [works.key], NOW_MS)
    assert lines(listing)[0] == "# older 20 of 31"
    archived = [each._replace(is_archived=True) for each in old]
    listing = listed(archived)
    listing.offer_older(is_offered=True)
    assert lines(listing) == []
