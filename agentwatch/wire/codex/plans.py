"""Reads the to-do lists of Codex."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Plan, PlanEntry, PlanStatus
from agentwatch.wire.fields import Fields, items, mapping, text

_MOST_ENTRIES = 10_000
_MOST_CHARACTERS = 4096
"""The length of the longest entry. The plan of a session is kept in memory."""
_STATUSES = {status.value: status for status in PlanStatus}


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    """Return the entries of a to-do list: of `codex exec` (`text`, `completed`) or of `update_plan`."""
    return tuple(_entry(mapping(each)) for each in islice(items(value), _MOST_ENTRIES))


def plan_of(value: object) -> Plan:
    """Return the plan with these entries."""
    return Plan(plan_entries(value))


def _entry(fields: Fields) -> PlanEntry:
    words = text(fields, "text") or text(fields, "step") or ""
    status = _STATUSES.get(text(fields, "status") or "", PlanStatus.PENDING)
    if fields.get("completed") is True:
        status = PlanStatus.COMPLETED
    return PlanEntry(words[:_MOST_CHARACTERS], status)
