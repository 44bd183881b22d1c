"""Cursor's to-do list, as the tool `updateTodos` reports it."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Plan, PlanEntry
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.plan import MOST_ENTRIES, plan_entry

_MAX_OPEN_CALLS = 64


class Plans:
    """Returns the plan of each completed call.

    Often only the line that starts a call contains the arguments, so they are kept until the call completes.
    """

    def __init__(self) -> None:
        self._started: dict[str, Plan] = {}
        """The plans in the arguments of open calls, by call_id; at most 64."""

    def start(self, call_id: str, arguments: Fields) -> None:
        """Keep the plan in the arguments of a call that started."""
        if arguments:
            self._started[call_id] = _plan_in(arguments)
        if len(self._started) > _MAX_OPEN_CALLS:
            del self._started[next(iter(self._started))]

    def end(self, call_id: str, arguments: Fields, success: Fields) -> Plan | None:
        """Return the plan that a call reports; None if it has no list in its result and no arguments.

        The list in the result is complete. Without it, the arguments replace the previous list or are merged
        into it.

        Args:
            call_id: The id with which the call started.
            arguments: The arguments in the line that ends the call; often empty.
            success: The object of its result.
        """
        started = self._started.pop(call_id, None)
        if entries := plan_entries(success.get("todos")):
            return Plan(entries)
        return _plan_in(arguments) if arguments else started


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    """Return the entries of a `todos` field, at most 10,000."""
    return tuple(_entry(mapping(todo)) for todo in islice(items(value), MOST_ENTRIES))


def _plan_in(arguments: Fields) -> Plan:
    return Plan(plan_entries(arguments.get("todos")), is_update=arguments.get("merge") is True)


def _entry(fields: Fields) -> PlanEntry:
    status = (text(fields, "status") or "").removeprefix("TODO_STATUS_").lower()
    return plan_entry(text(fields, "content") or "", status)
