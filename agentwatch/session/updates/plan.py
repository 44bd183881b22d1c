"""Applies an update to the agent's to-do list."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Plan, PlanEntry

_MOST_ENTRIES = 10_000


def planned(before: tuple[PlanEntry, ...], event: Plan) -> tuple[PlanEntry, ...]:
    """Return the to-do list after an event: the event's entries, merged into `before` if it is an update.

    Entries with the same text are the same entry.
    """
    by_text = {entry.text: entry for entry in (*(before if event.is_update else ()), *event.entries)}
    return tuple(islice(by_text.values(), _MOST_ENTRIES))
