"""Cursor's to-do list, as the tool `updateTodos` reports it."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Plan, PlanEntry, PlanStatus
from agentwatch.wire.fields import Fields, items, mapping, text

_MAX_ENTRIES = 10_000
_MAX_OPEN_CALLS = 64
_STATUSES = {status.value: status for status in PlanStatus}


class Plans:
    """Gives the plan of each completed call; the arguments are often only on the line that starts the
    call."""

    def __init__(self) -> None:
        self._started: dict[str, Plan] = {}
        """By call_id, what calls that have not completed yet were given. At most 64 of them."""

    def start(self, call_id: str, arguments: Fields) -> None:
        """Keep what a call was given."""
        if arguments:
            self._started[call_id] = _given(arguments)
        if len(self._started) > _MAX_OPEN_CALLS:
            del self._started[next(iter(self._started))]

    def end(self, call_id: str, arguments: Fields, success: Fields) -> Plan | None:
        """Return the plan after a call that succeeded, or None if the call does not say.

        The list in the result is complete. Without one, the arguments replace the previous list or are
        merged.
        """
        given = self._started.pop(call_id, None)
        if entries := plan_entries(success.get("todos")):
            return Plan(entries)
        return _given(arguments) if arguments else given


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    """Return the entries of a `todos` field, at most 10,000."""
    return tuple(_entry(mapping(todo)) for todo in islice(items(value), _MAX_ENTRIES))


def _given(arguments: Fields) -> Plan:
    return Plan(plan_entries(arguments.get("todos")), is_update=arguments.get("merge") is True)


def _entry(fields: Fields) -> PlanEntry:
    status = (text(fields, "status") or "").removeprefix("TODO_STATUS_").lower()
    return PlanEntry(text(fields, "content") or "", _STATUSES.get(status, PlanStatus.PENDING))
