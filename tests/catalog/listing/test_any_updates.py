"""Whatever happens to the sessions, no row moves within its group and none is lost."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.catalog.hiding import is_hidden, root
from agentwatch.catalog.listing import FoldLine, Heading, Listing, Request, RowLine, Sort
from agentwatch.catalog.row import Row
from agentwatch.catalog.row_counts import ended_ms
from agentwatch.catalog.row_filter import row_filter
from agentwatch.catalog.session_status import Group
from agentwatch.catalog.status import midnight
from tests.catalog.listing.made_rows import DAY_MS, NOW_MS, in_state, row
from tests.conftest import case

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
