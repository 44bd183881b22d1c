"""Gemini's to-do list, as the tool `write_todos` reports it."""

from __future__ import annotations

from agentwatch.events import Plan, PlanEntry
from agentwatch.wire.fields import Fields
from agentwatch.wire.plan import listed_entries


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    """Return the entries of a `todos` field, at most 10,000. The text of an entry is its description."""
    return listed_entries(value, "description", "content")


def plan_in(arguments: Fields) -> Plan | None:
    """Return the to-do list in the arguments of a call; None if they contain none."""
    return Plan(plan_entries(arguments["todos"])) if isinstance(arguments.get("todos"), list) else None
