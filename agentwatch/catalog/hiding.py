"""Which sessions the list does not show until the user asks for them."""

from __future__ import annotations

from collections.abc import Mapping

from agentwatch.agents.found import Key
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import LIVE, Group

DAY_MS = 24 * 60 * 60 * 1000
SHOWN_DAYS = 7
"""A session is hidden when its last line is older."""


def is_hidden(row: Row, now_ms: int) -> bool:
    """Return whether a session is hidden: it does not run, and is archived or older than a week.

    Args:
        row: The session.
        now_ms: The present time, in milliseconds since the epoch.
    """
    from_ms = hidden_from_ms(row)
    return from_ms is not None and now_ms > from_ms


def hidden_from_ms(row: Row) -> int | None:
    """Return the time after which a session is hidden, in milliseconds since the epoch.

    None for a session that runs, and for one without any time, which is not known to be old.
    """
    if row.standing.state in LIVE:
        return None
    if row.is_archived:
        return 0
    seen_ms = row.began_ms if row.seen_ms is None else row.seen_ms
    return None if seen_ms is None else seen_ms + SHOWN_DAYS * DAY_MS


# Which sessions have a row of their own, and which are folded under the session that started them.

_DEEPEST = 8
"""The greatest depth of subagents of subagents. It also ends a search in a circle of parents."""


def root(row: Row, rows: Mapping[Key, Row]) -> Row:
    """Return the session in whose row a session is counted, which may be the session itself.

    A subagent belongs to the session that no other one started. One that asks the user has a row of its own,
    so that the question is not folded away; so has one whose parent is not listed.
    """
    if row.parent is None or row.group is Group.NEEDS_YOU:
        return row
    above = row
    for _ in range(_DEEPEST):
        parent = rows.get(above.parent) if above.parent is not None else None
        if parent is None:
            return above
        above = parent
    return row
