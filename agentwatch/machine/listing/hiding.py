"""Which sessions the list does not show until the user asks for them."""

from __future__ import annotations

from agentwatch.machine.row import Row
from agentwatch.machine.standing import LIVE

DAY_MS = 24 * 60 * 60 * 1000
SHOWN_DAYS = 7
"""A session is hidden when its last line is older."""


def is_hidden(row: Row, now_ms: int) -> bool:
    """Return whether a session is hidden: it does not run, and is archived or older than a week.

    A session without any known time is not known to be old, and is shown.

    Args:
        row: The session.
        now_ms: The present time, in milliseconds since the epoch.
    """
    if row.standing.state in LIVE:
        return False
    if row.is_archived:
        return True
    seen_ms = row.began_ms if row.seen_ms is None else row.seen_ms
    return seen_ms is not None and now_ms - seen_ms > SHOWN_DAYS * DAY_MS
