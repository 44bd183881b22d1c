"""The to-do list that Claude's tools report: `TodoWrite` writes all of it, `TaskUpdate` changes one entry."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import Plan, PlanEntry
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.plan import entry_in, listed_entries, plan_entry

_MAX_ENTRIES = 1_000
_TEXTS = ("content", "subject")
_WRITES_ALL = frozenset(("TodoWrite", "todo_write"))
_DELETED = "deleted"
_NUMBER_START = "Task #"


class Plans:
    """The entries that `TaskCreate` made, by their ids; at most 1,000."""

    def __init__(self) -> None:
        self._tasks: dict[str, PlanEntry] = {}

    def after(self, tool: str, arguments: Fields, structured: Fields, words: str) -> Plan | None:
        """Return the to-do list after a call that succeeded; None if the tool does not change it.

        Args:
            tool: The tool's name.
            arguments: The arguments of the call.
            structured: The structured result; empty if the line has no such field.
            words: The text of the result.
        """
        if tool in _WRITES_ALL:
            return Plan(plan_entries(structured.get("newTodos") or arguments.get("todos")))
        match tool:
            case "TaskCreate":
                self._create(arguments, mapping(structured.get("task")), words)
            case "TaskUpdate":
                self._update(arguments)
            case "TaskList" if "tasks" in structured:
                tasks = map(mapping, islice(items(structured["tasks"]), _MAX_ENTRIES))
                self._tasks = {text(task, "id") or "": entry_in(task, *_TEXTS) for task in tasks}
            case _:
                return None
        return Plan(tuple(self._tasks.values()))

    def _create(self, arguments: Fields, task: Fields, words: str) -> None:
        number = words.removeprefix(_NUMBER_START)[:20].partition(" ")[0]
        key = text(task, "id") or (number if words.startswith(_NUMBER_START) else f"task {len(self._tasks)}")
        if len(self._tasks) < _MAX_ENTRIES:
            self._tasks[key[:100]] = entry_in({**task, **arguments}, *_TEXTS)

    def _update(self, arguments: Fields) -> None:
        key = (text(arguments, "taskId") or "")[:100]
        before = self._tasks.get(key)
        if before is None:
            return
        status = text(arguments, "status")
        if status == _DELETED:
            del self._tasks[key]
            return
        words = text(arguments, "subject") or before.text
        self._tasks[key] = plan_entry(words, status, before.status)


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    """Return the entries of a `todos` field, at most 1,000."""
    return listed_entries(items(value)[:_MAX_ENTRIES], *_TEXTS)
