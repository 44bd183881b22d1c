"""Reads the to-do lists of Codex."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Plan, PlanEntry, PlanStatus
from agentwatch.wire.fields import Fields, items, mapping
from agentwatch.wire.plan import MOST_ENTRIES, entry_in


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    """Return the entries of a to-do list: of `codex exec` (`text`, `completed`) or of `update_plan`."""
    return tuple(_entry(mapping(each)) for each in islice(items(value), MOST_ENTRIES))


def plan_of(value: object) -> Plan:
    """Return the plan with these entries."""
    return Plan(plan_entries(value))


def _entry(fields: Fields) -> PlanEntry:
    entry = entry_in(fields, "text", "step")
    return entry._replace(status=PlanStatus.COMPLETED) if fields.get("completed") is True else entry
