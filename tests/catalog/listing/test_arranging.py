"""What is folded, and the orders other than that by state."""

from __future__ import annotations

from dataclasses import replace

from agentwatch.agents.reported import State
from agentwatch.catalog.listing import FoldLine, Heading, Request, RowLine, Sort
from agentwatch.catalog.status.counts import midnight
from tests.catalog.listing.made_rows import (
    DAY_MS,
    MINUTE_MS,
    NOW_MS,
    in_state,
    lines,
    listed,
    row,
    toggle,
)


def test_subagents_are_folded_below_their_session() -> None:
    """A row opens to its subagents and to theirs, all one step deeper; these are changed in place too."""
    main = row("main", subagents=2)
    sub = row("sub", ago_ms=5, parent=main.key)
    deep = row("deep", State.SUCCEEDED, parent=sub.key)
    listing = listed([main, sub, deep])
    assert lines(listing) == ["# working 1", "main"]
    assert not listing.update([main, replace(sub, calls=1), deep], NOW_MS)
    toggle(listing, "main")
    assert lines(listing) == ["# working 1", "main", ". sub", ". deep"]
    assert listing.update([main, sub, deep], NOW_MS) == (False, (2,))
    assert [line.is_open for line in listing.lines if isinstance(line, RowLine)] == [True, False, False]
    toggle(listing, "main")
    assert lines(listing) == ["# working 1", "main"]


def test_a_subagent_that_asks_has_its_own_row() -> None:
    """A question is not folded away; when it is answered, the subagent is folded again."""
    main = row("main")
    sub = row("sub", State.ASKS, parent=main.key)
    listing = listed([main, sub])
    assert lines(listing) == ["# needs you 1", "sub", "# working 1", "main"]
    listing.update([main, in_state(sub, State.WORKING)], NOW_MS)
    assert lines(listing) == ["# working 1", "main"]


def test_subagents_whose_parent_is_not_listed_have_their_own_rows() -> None:
    """A missing parent, and parents in a circle, do not lose a session."""
    orphan = row("orphan", parent=("claude", "gone"))
    circle = [row("x", parent=("claude", "y")), row("y", parent=("claude", "x"), ago_ms=9)]
    assert lines(listed([orphan])) == ["# working 1", "orphan"]
    assert lines(listed(circle)) == ["# working 2", "y", "x"]


def test_one_liners_are_folded_per_folder() -> None:
    """What other programs ran for one prompt is one line for each folder, below all days.

    One that works, or that is alone in its folder, has its own row.
    """
    rows = [
        row("own", State.SUCCEEDED),
        *(row(f"a{n}", State.SUCCEEDED, cwd="/w/api", repo="api", is_one_liner=True) for n in range(3)),
        row("b", State.SUCCEEDED, cwd="/w/web", repo="", is_one_liner=True, ago_ms=1),
        row("c", State.SUCCEEDED, is_one_liner=True, ago_ms=2 * MINUTE_MS),
        row("works", cwd="/w/api", is_one_liner=True),
    ]
    listing = listed(rows)
    assert lines(listing) == [
        *("# working 1", "works", "# ended 3", "b", "own", "c"),
        *("# one-liners 3", "+ 3 one-liners in api"),
    ]
    toggle(listing, "3 one-liners")
    assert lines(listing)[7:] == ["- 3 one-liners in api", ". a2", ". a1", ". a0"]
    toggle(listing, "3 one-liners")
    assert lines(listing)[6:] == ["# one-liners 3", "+ 3 one-liners in api"]


def test_a_fold_stays_where_it_is() -> None:
    """New one-liners are counted in their fold, which does not move."""
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
        *("# ended 1", "older", "# ended 1", "undated"),
    ]
    days = [line.day_ms for line in listing.lines if isinstance(line, Heading)]
    assert days[0] == midnight_ms
    assert days == sorted(days, key=lambda day_ms: -(day_ms or 0))
    far = 10**18
    assert lines(listed([row("far", State.SUCCEEDED, ago_ms=-far)])) == ["# ended 1", "far"]


def test_by_age_the_newest_session_is_first() -> None:
    """Without groups, the sessions are ordered by their beginnings, which do not change."""
    rows = [row("a", began_ms=3), row("b", State.ASKS, began_ms=9), row("c", State.SUCCEEDED, began_ms=5)]
    listing = listed([*rows, row("new")], Request(sort=Sort.AGE))
    assert lines(listing) == ["new", "b", "c", "a"]
    late = [replace(rows[0], began_ms=7), *rows[1:]]
    assert listing.update(late, NOW_MS).is_rebuilt
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


def test_by_repository_what_needs_the_user_is_first() -> None:
    """The repository of a question is the first one, with the question on top; no folder is the last."""
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


def test_a_repository_does_not_close_under_the_reader() -> None:
    """A repository that was open because a session ran stays open when it has ended."""
    rows = [row("a", repo="api"), row("b", State.SUCCEEDED, repo="api", ago_ms=9)]
    listing = listed(rows, Request(sort=Sort.REPOSITORY))
    rows[0] = in_state(rows[0], State.SUCCEEDED)
    listing.update(rows, NOW_MS)
    assert lines(listing) == ["- api · 2 ended", "a", "b"]


def test_the_names_of_repositories_on_two_hosts_are_two() -> None:
    """A repository on another machine is another one, and has the machine's name."""
    rows = [row("a", repo="api"), row("b", repo="api", host="box", ago_ms=9)]
    assert lines(listed(rows, Request(sort=Sort.REPOSITORY))) == [
        *("- box:api · 1 working", "b", "- api · 1 working", "a")
    ]
