"""Gemini's to-do list, as the tool `write_todos` reports it."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Plan, PlanEntry, PlanStatus
from agentwatch.wire.fields import Fields, items, mapping, text

_MOST_ENTRIES = 10_000
_MOST_CHARACTERS = 4096
"""The length of the longest entry. The plan of a session is kept in memory."""
_STATUSES = {status.value: status for status in PlanStatus}


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    """Return the entries of a `todos` field, at most 10,000. The text of an entry is its description."""
    return tuple(_entry(mapping(todo)) for todo in islice(items(value), _MOST_ENTRIES))


def plan_in(arguments: Fields) -> Plan | None:
    """Return the to-do list in the arguments of a call; None if they contain none."""
    return Plan(plan_entries(arguments["todos"])) if isinstance(arguments.get("todos"), list) else None


def _entry(fields: Fields) -> PlanEntry:
    content = text(fields, "description") or text(fields, "content") or ""
    status = _STATUSES.get(text(fields, "status") or "", PlanStatus.PENDING)
    return PlanEntry(content[:_MOST_CHARACTERS], status)
