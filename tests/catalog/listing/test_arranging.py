"""What is folded, and the orders other than that by state."""

from __future__ import annotations

from dataclasses import replace

from agentwatch.agents.reported import State
from agentwatch.catalog.listing import FoldLine, Request, RowLine, Sort
from tests.catalog.listing.made_rows import (
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
    """What other programs ran for one prompt is one line for each folder; one that works has its own row."""
    rows = [
        row("own", State.SUCCEEDED),
        *(row(f"a{n}", State.SUCCEEDED, cwd="/w/api", repo="api", is_one_liner=True) for n in range(3)),
        row("b", State.SUCCEEDED, cwd="/w/web", repo="", is_one_liner=True, ago_ms=1),
        row("c", State.SUCCEEDED, is_one_liner=True, ago_ms=2 * MINUTE_MS),
        row("works", cwd="/w/api", is_one_liner=True),
    ]
    listing = listed(rows)
    assert lines(listing) == [
        *("# working 1", "works", "# ended 6", "own"),
        *("+ 1 one-liner in /w/web", "+ 3 one-liners in api", "+ 1 one-liner in no folder"),
    ]
    toggle(listing, "3 one-liners")
    assert lines(listing)[5:9] == ["- 3 one-liners in api", ". a2", ". a1", ". a0"]
    toggle(listing, "3 one-liners")
    assert lines(listing)[5:] == ["+ 3 one-liners in api", "+ 1 one-liner in no folder"]


def test_a_fold_stays_where_it_is() -> None:
    """New one-liners are counted in their fold, which does not move."""
    rows = [
        row("a", State.SUCCEEDED, cwd="/a", is_one_liner=True, ago_ms=9),
        row("b", State.SUCCEEDED, cwd="/b", is_one_liner=True, ago_ms=99),
    ]
    listing = listed(rows)
    listing.update([*rows, row("new", State.SUCCEEDED, cwd="/b", is_one_liner=True, ago_ms=0)], NOW_MS)
    assert lines(listing) == ["# ended 3", "+ 1 one-liner in /a", "+ 2 one-liners in /b"]
    fold = listing.lines[2]
    assert isinstance(fold, FoldLine)
    assert fold.keys == (("claude", "new"), ("claude", "b"))


def test_by_age_the_newest_session_is_first() -> None:
    """Without groups, the sessions are ordered by their beginnings, which do not change."""
    rows = [row("a", began_ms=3), row("b", State.ASKS, began_ms=9), row("c", State.SUCCEEDED, began_ms=5)]
    listing = listed([*rows, row("new")], Request(sort=Sort.AGE))
    assert lines(listing) == ["new", "b", "c", "a"]
    late = [replace(rows[0], began_ms=7), *rows[1:]]
    assert listing.update(late, NOW_MS).is_rebuilt
    assert lines(listing) == ["b", "a", "c"]


def test_by_repository_the_worktrees_are_folded() -> None:
    """A repository is open while a session in it runs; its worktrees are folded below it."""
    rows = [
        row("main", State.ASKS, repo="api", ago_ms=1),
        row("done", State.SUCCEEDED, repo="api", ago_ms=2),
        row("tree", repo="api", worktree="retry", ago_ms=3),
        row("old", State.SUCCEEDED, repo="api", worktree="docs", ago_ms=4),
        row("web", State.FAILED, repo="web", ago_ms=5),
        row("bare", State.UNKNOWN, ago_ms=6),
    ]
    listing = listed(rows, Request(sort=Sort.REPOSITORY))
    assert lines(listing) == [
        *("- api · 1 needs you · 1 working · 2 ended", ". main", ". done"),
        *(". - retry · 1 working", ". . tree", ". + docs · 1 ended"),
        *("+ web · 1 ended", "+ no folder · 1 ended"),
    ]
    toggle(listing, "docs")
    toggle(listing, "web")
    assert lines(listing)[5:9] == [". - docs · 1 ended", ". . old", "- web · 1 ended", ". web"]
    toggle(listing, "api")
    assert lines(listing)[:2] == ["+ api · 1 needs you · 1 working · 2 ended", "- web · 1 ended"]


def test_a_repository_does_not_close_under_the_reader() -> None:
    """A repository that was open because a session ran stays open when it has ended, and no row moves."""
    rows = [row("a", repo="api"), row("b", State.SUCCEEDED, repo="api", ago_ms=9)]
    listing = listed(rows, Request(sort=Sort.REPOSITORY))
    rows[0] = in_state(rows[0], State.SUCCEEDED)
    listing.update(rows, NOW_MS)
    assert lines(listing) == ["- api · 2 ended", ". b", ". a"]


def test_the_names_of_repositories_on_two_hosts_are_two() -> None:
    """A repository on another machine is another one, and has the machine's name."""
    rows = [row("a", repo="api"), row("b", repo="api", host="box", ago_ms=9)]
    assert lines(listed(rows, Request(sort=Sort.REPOSITORY))) == [
        *("- box:api · 1 working", ". b", "- api · 1 working", ". a")
    ]
