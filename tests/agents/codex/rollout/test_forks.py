"""The requests of a fork are its own: not those of the history that it copies or names."""

from __future__ import annotations

from agentwatch.session.session import repeated_calls
from tests.builders.codex.lines import read
from tests.builders.codex.threads import BEGAN_MS, MINUTE_MS, Json, copied, meta, name_at, turn
from tests.conftest import case

PARENT, FORK = name_at(BEGAN_MS, 1), name_at(BEGAN_MS + 10 * MINUTE_MS, 2)
FORKED_MS = BEGAN_MS + 10 * MINUTE_MS


def parent(*, has_id: bool = True) -> list[Json]:
    """Return a thread with two turns."""
    first, second = BEGAN_MS + MINUTE_MS, BEGAN_MS + 2 * MINUTE_MS
    return [
        meta(PARENT, BEGAN_MS),
        *turn(PARENT, first, 11, 1000, 1000, is_paginated=False, has_id=has_id),
        *turn(PARENT, second, 12, 3100, 2100, is_paginated=False, has_id=has_id),
    ]


def test_a_fork_that_copies_history_counts_its_own_requests() -> None:
    """The copied lines are shown, and their requests count in the session in which they were made."""
    for has_id in (True, False):
        with case(has_id):
            begin = [meta(FORK, FORKED_MS, forked_from_id=PARENT), *copied(parent(has_id=has_id), FORKED_MS)]
            found = read(*begin)
            assert (found.run.tokens.input, repeated_calls(found), len(found.calls)) == (0, 2, 2)
            own = turn(FORK, FORKED_MS + MINUTE_MS, 13, 6300, 3200, is_paginated=False, has_id=has_id)
            found = read(*begin, *own)
            assert (found.run.tokens.input, found.run.tokens.cached) == (3200, 1600)
            assert (repeated_calls(found), len(found.calls), found.run.turns) == (2, 3, 3)
    kept = [meta(FORK, FORKED_MS, forked_from_id=PARENT), *parent(has_id=False)]
    own = turn(FORK, FORKED_MS + 100, 13, 6300, 3200, is_paginated=False, has_id=False)
    assert read(*kept, *own).run.tokens.input == 3200


def test_a_copy_without_times_is_taken_for_history() -> None:
    """Nothing shows where it ends."""
    lines = [{**line, "timestamp": None} for line in parent(has_id=False)]
    assert read(meta(FORK, FORKED_MS, forked_from_id=PARENT), *lines).run.tokens.input == 0
    strange = turn(FORK, FORKED_MS + MINUTE_MS, 13, 6300, 3200, is_paginated=False, has_id=False)
    for number, name in enumerate(("x", "1" * 36, f"zzzzzzzz-zzzz-7{'z' * 21}")):
        with case(name):
            named = [{**line, "payload": line["payload"] | {"turn_id": name}} for line in strange]
            found = read(meta(FORK, FORKED_MS, forked_from_id=PARENT), *copied(parent(), FORKED_MS), *named)
            assert (number, found.run.tokens.input) == (number, 0)


def test_a_fork_that_names_its_history_counts_its_own_requests() -> None:
    """The totals go on from the inherited ones; a version whose totals begin at 0 counts the same."""
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 9, "end_byte_offset": 100}
    begin = meta(FORK, FORKED_MS, forked_from_id=PARENT, history_base=base)
    at_ms = FORKED_MS + MINUTE_MS
    for before in (1000, 0):
        with case(before):
            lines = [
                *turn(FORK, at_ms, 31, before + 500, 500),
                *turn(FORK, at_ms + MINUTE_MS, 32, before + 1200, 700),
            ]
            found = read(begin, *lines)
            assert (found.run.tokens.input, found.run.tokens.output) == (1200, 120)
            assert (repeated_calls(found), len(found.calls)) == (0, 2)


def test_a_count_that_starts_again_is_not_negative() -> None:
    """If the total is smaller than the inherited one, nothing was inherited, and all of it counts."""
    begin = [meta(FORK, FORKED_MS, forked_from_id=PARENT), *copied(parent(), FORKED_MS)]
    own = turn(FORK, FORKED_MS + MINUTE_MS, 13, 300, 300, is_paginated=False)
    assert read(*begin, *own).run.tokens.input == 300
