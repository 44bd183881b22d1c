"""The numbers of sessions that header, status and title show."""

import random
from collections.abc import Callable, Iterable
from datetime import datetime

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.catalog.listing import Heading, Listing
from agentwatch.catalog.row import Row, changed_rows
from agentwatch.catalog.row_counts import CountedRows, Counts, counts, status_counts
from agentwatch.catalog.session_status import Ground, Group, SessionStatus
from agentwatch.catalog.status import midnight
from tests.catalog.listing.made_rows import DAY_MS, MINUTE_MS, NOW_MS, row
from tests.conftest import case

NOON_MS = int(datetime(2026, 11, 21, 12).timestamp() * 1000)
HOUR_MS = 60 * MINUTE_MS


def test_each_session_is_counted_in_its_group() -> None:
    """A subagent is part of its session, unless it asks. Hidden sessions are not counted."""
    rows = [
        row("asks", State.ASKS),
        row("failed", State.TURN_FAILED),
        row("works"),
        row("sub", parent=("claude", "works")),
        row("subasks", State.ASKS, parent=("claude", "works")),
        row("one", is_one_liner=True),
        row("quiet", State.QUIET),
        row("turn", State.YOUR_TURN),
        row("shell", State.SHELL),
        row("old", State.SUCCEEDED, ago_ms=8 * DAY_MS),
    ]
    assert counts(rows, NOW_MS) == Counts(2, 1, 2, 1, 2, 0)
    assert counts([], NOW_MS) == Counts()


def test_only_real_ends_of_today_are_counted() -> None:
    """Neither yesterday's sessions, nor unknown ones, nor what other programs ran are sessions of today."""
    rows = [
        row("ok", State.SUCCEEDED, seen_ms=NOON_MS - HOUR_MS),
        row("bad", State.FAILED, seen_ms=NOON_MS - 12 * HOUR_MS),
        row("cut", State.UNFINISHED, seen_ms=NOON_MS - 2 * HOUR_MS),
    ]
    assert counts(rows, NOON_MS).ended_today == 3
    since = SessionStatus(State.SUCCEEDED, Ground.SAID, NOON_MS)
    late = [
        row("said", State.SUCCEEDED, seen_ms=NOON_MS - DAY_MS, status=since),
        row("seen", State.SUCCEEDED, seen_ms=NOON_MS, status=since._replace(since_ms=NOON_MS - DAY_MS)),
        row("only seen", State.SUCCEEDED, seen_ms=NOON_MS, status=since._replace(since_ms=None)),
    ]
    assert counts(late, NOON_MS).ended_today == 3
    others = [
        row("yesterday", State.SUCCEEDED, ago_ms=None, seen_ms=NOON_MS - 12 * HOUR_MS - 1),
        row("unknown", State.UNKNOWN, seen_ms=NOON_MS - HOUR_MS),
        row("one", State.SUCCEEDED, seen_ms=NOON_MS - HOUR_MS, is_one_liner=True),
        row("undated", State.SUCCEEDED, ago_ms=None),
    ]
    assert counts(others, NOON_MS).ended_today == 0


def test_the_counts_are_those_of_the_list() -> None:
    """The header does not contradict the headings."""
    rows = [
        row(f"{number}", state, ago_ms=number * DAY_MS, is_one_liner=number % 3 == 0, is_archived=number == 5)
        for number, state in enumerate([*State, *State])
    ]
    rows += [row(f"sub {number}", parent=("claude", f"{number}")) for number in range(10)]
    # one that another program ran, one that may still run, one that is archived, and a process that ends now
    rows += [
        row("alone", State.SUCCEEDED, is_one_liner=True),
        row("may run", State.UNKNOWN),
        row("put away", State.FAILED, is_archived=True),
        row("now", State.FAILED, ago_ms=1),
        row("since yesterday", State.FAILED, ago_ms=DAY_MS),
    ]
    listing = Listing()
    listing.update([*rows[:-1], rows[-1]._replace(status=SessionStatus(State.SHELL, Ground.SAID, 1))], NOW_MS)
    listing.update(rows, NOW_MS)
    headings = [line for line in listing.lines if isinstance(line, Heading)]
    shown = {line.group: line.count for line in headings}
    numbers = counts(rows, NOW_MS)
    today = [line.count for line in headings if line.day_ms == midnight(NOW_MS)]
    assert today == [numbers.ended_today] == [1]
    for group in (Group.NEEDS_YOU, Group.FAILED, Group.WORKING, Group.QUIET, Group.YOUR_TURN):
        assert shown[group] == getattr(numbers, group.name.lower())


def test_counting_again_gives_what_counting_gives() -> None:
    """A session that changes its state, comes or goes is counted, and so are the ends of a new day."""
    counted, before = CountedRows(counts), dict[Key, Row]()
    rows = {
        each.key: each for each in (row("a", State.WORKING), row("b", State.ASKS), row("c", State.SUCCEEDED))
    }
    for name, state in (("a", State.ASKS), ("b", State.FAILED), ("d", State.QUIET), ("a", State.YOUR_TURN)):
        now = row(name, state)
        rows = {**rows, now.key: now}
        changed, before = changed_rows(before, rows), rows
        assert counted.update(rows, changed, NOW_MS) == counts(rows.values(), NOW_MS)
    rows = {key: each for key, each in rows.items() if key != row("d").key}
    assert counted.update(rows, (), NOW_MS) == counts(rows.values(), NOW_MS)
    later_ms = NOW_MS + 2 * DAY_MS
    later = counted.update(rows, (), later_ms)
    assert later == counts(rows.values(), later_ms) != counts(rows.values(), NOW_MS)


def test_counting_what_changed_gives_what_counting_all_gives() -> None:
    """After any changes of any sessions, the numbers are those of a count of all of them."""
    count: Callable[[Iterable[Row], int], tuple[int | None, ...]]
    for count in (counts, status_counts):
        for seed in range(20):
            with case(f"{count.__name__}, {seed}"):
                rng = random.Random(seed)
                counted, rows = CountedRows(count), dict[Key, Row]()
                for _ in range(60):
                    before, rows = rows, dict(rows)
                    for _ in range(rng.randrange(4)):
                        now = _any_row(rng)
                        rows[now.key] = now
                    if rows and rng.random() < 0.1:
                        del rows[rng.choice(list(rows))]
                    changed = changed_rows(before, rows)
                    assert counted.update(rows, changed, NOW_MS) == count(rows.values(), NOW_MS)


def test_only_what_changed_is_counted() -> None:
    """A session that changes or comes costs a count of it and of the sessions above it, not of all."""
    passed: list[int] = []

    def count(rows: Iterable[Row], now_ms: int) -> Counts:
        rows = list(rows)
        passed.append(len(rows))
        return counts(rows, now_ms)

    counted = CountedRows(count)
    rows = {each.key: each for each in (row(f"{number}") for number in range(100))}
    counted.update(rows, list(rows.values()), NOW_MS)
    for now in (row("1", State.ASKS), row("1", State.ASKS, calls=8), row("new")):
        rows = {**rows, now.key: now}
        counted.update(rows, [now], NOW_MS)
    assert passed == [0, 100, 1, 1, 0, 1]


def _any_row(rng: random.Random) -> Row:
    """Return one of 20 sessions in any state; its parent, its host and its other traits seldom change."""
    number = rng.randrange(20)
    parent = ("claude", f"{number // 2}") if number > 12 and rng.random() < 0.95 else None
    return row(
        f"{number}",
        rng.choice([*State]),
        ago_ms=rng.choice([0, HOUR_MS, 20 * HOUR_MS, 8 * DAY_MS]),
        parent=parent,
        host="far" if number % 5 == 0 and rng.random() < 0.95 else "",
        is_one_liner=rng.random() < 0.2,
        is_archived=rng.random() < 0.2,
    )
