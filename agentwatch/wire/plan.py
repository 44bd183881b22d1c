"""Reads to-do lists. All agents write a list of objects, with other names for the text of an entry."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import PlanEntry, PlanStatus
from agentwatch.wire.fields import Fields, items, mapping, text

MOST_ENTRIES = 10_000
"""The length of the longest list. The plan of a session is kept in memory."""
_MOST_CHARACTERS = 4096
"""The length of the longest entry."""
_STATUSES = {status.value: status for status in PlanStatus}


def listed_entries(value: object, *keys: str) -> tuple[PlanEntry, ...]:
    """Return the entries of a list, at most 10,000; empty for any other value.

    Args:
        value: The list.
        keys: The fields of an entry that may contain its text. The first that does counts.
    """
    return tuple(entry_in(mapping(each), *keys) for each in islice(items(value), MOST_ENTRIES))


def entry_in(fields: Fields, *keys: str) -> PlanEntry:
    """Return the entry that an object describes."""
    words = next((found for key in keys if (found := text(fields, key))), "")
    return plan_entry(words, text(fields, "status"))


def plan_entry(words: str, status: str | None, otherwise: PlanStatus = PlanStatus.PENDING) -> PlanEntry:
    """Return an entry, its text cut to 4,096 characters.

    Args:
        words: The text.
        status: The status: `pending`, `in_progress`, `completed` or `cancelled`.
        otherwise: The status of an entry whose own is unknown.
    """
    return PlanEntry(words[:_MOST_CHARACTERS], _STATUSES.get(status or "", otherwise))
