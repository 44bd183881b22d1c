"""The agent's to-do list becomes a plan, whether the result or only the arguments contain it."""

from __future__ import annotations

from typing import Any

from agentwatch.session.events import Event, Plan, PlanEntry, PlanStatus
from agentwatch.session.session import Session
from tests.builders.lines import completed, events, init, session, started

DONE = {"content": "Read it", "status": "TODO_STATUS_COMPLETED"}
NEXT = {"content": "Mend it", "status": "TODO_STATUS_PENDING"}
DONE_ENTRY = PlanEntry("Read it", PlanStatus.COMPLETED)
NEXT_ENTRY = PlanEntry("Mend it", PlanStatus.PENDING)


def ended(result: Any, *before: bytes, call_id: str = "c-1", **args: Any) -> Event | None:
    """Return the plan of a completed call; None without one."""
    found = events(init(), *before, completed("updateTodos", call_id, result, **args))
    return next((event for event in found if isinstance(event, Plan)), None)


def test_the_list_of_the_result_replaces_the_plan() -> None:
    """A result with entries is the whole list, whatever the arguments say."""
    before = started("updateTodos", todos=[NEXT], merge=True)
    assert ended({"success": {"todos": [DONE, NEXT]}}, before) == Plan((DONE_ENTRY, NEXT_ENTRY))


def test_without_a_list_in_the_result_the_arguments_count() -> None:
    """The arguments replace the plan, or update it if they say so; the start line may be their only place."""
    assert ended({"success": {}}, started("updateTodos", todos=[DONE])) == Plan((DONE_ENTRY,))
    merged = started("updateTodos", todos=[NEXT], merge=True)
    assert ended({"success": {}}, merged) == Plan((NEXT_ENTRY,), is_update=True)
    assert ended({"success": {}}, todos=[NEXT]) == Plan((NEXT_ENTRY,))


def test_a_call_without_arguments_or_success_has_no_plan() -> None:
    """A call that failed, or of which nothing is known, leaves the plan as it is."""
    assert ended({"error": {"error": "no"}}, started("updateTodos", todos=[DONE])) is None
    assert ended({"success": {}}) is None
    assert ended({"success": {}}, started("updateTodos")) is None


def test_the_arguments_of_64_open_calls_are_kept() -> None:
    """Of more calls that were started and not completed, the oldest are forgotten."""
    before = [started("updateTodos", f"c-{number}", todos=[DONE]) for number in range(65)]
    assert ended({"success": {}}, *before, call_id="c-0") is None
    assert ended({"success": {}}, *before, call_id="c-1") == Plan((DONE_ENTRY,))


def test_an_update_is_merged_by_text() -> None:
    """An update changes the status of entries with the same text, and adds the others at the end."""

    def plan(*lines: bytes) -> tuple[PlanEntry, ...]:
        read: Session = session(init(), *lines)
        return read.plan

    first = completed("updateTodos", "c-1", {"success": {"todos": [NEXT]}})
    update = started("updateTodos", "c-2", todos=[NEXT | {"status": "completed"}, DONE], merge=True)
    end = completed("updateTodos", "c-2", {"success": {}})
    assert plan(first) == (NEXT_ENTRY,)
    assert plan(first, update, end) == (NEXT_ENTRY._replace(status=PlanStatus.COMPLETED), DONE_ENTRY)
