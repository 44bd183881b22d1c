"""Which sessions have a row of their own, and which are folded under the session that started them."""

from __future__ import annotations

from collections.abc import Mapping

from agentwatch.machine.row import Row
from agentwatch.machine.standing import Group
from agentwatch.wire.found import Key

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
