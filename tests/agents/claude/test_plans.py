"""The to-do list follows the tools that write it."""

from __future__ import annotations

from agentwatch.session.events import Plan
from tests.builders.claude_lines import Json, answer, call, events, init, written
from tests.builders.lines import session


def plan_after(*lines: Json) -> list[tuple[str, str]]:
    """Return the to-do list of a session, as texts and states."""
    return [(entry.text, entry.status.value) for entry in session(written(init(), *lines)).plan]


def test_a_list_is_written_as_a_whole() -> None:
    """`TodoWrite` replaces the list, with the list in its result if there is one."""
    todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "soon"}]
    assert plan_after(call("TodoWrite", todos=todos), answer("ok")) == [("a", "completed"), ("b", "pending")]
    new = {"newTodos": [{"content": "c", "status": "in_progress"}]}
    assert plan_after(call("TodoWrite", todos=todos), answer("ok", result=new)) == [("c", "in_progress")]
    assert plan_after(call("TodoWrite", todos=todos), answer("no", is_error=True)) == []


def test_tasks_are_added_and_updated_one_by_one() -> None:
    """`TaskCreate` adds an entry, by the id in its result or its text; `TaskUpdate` changes or removes it."""
    lines = [
        call("TaskCreate", "t-1", subject="a", description="long"),
        answer("Task #1 created successfully: a", "t-1"),
    ]
    lines += [
        call("TaskCreate", "t-2", subject="b"),
        answer("x", "t-2", result={"task": {"id": "2", "subject": "b"}}),
    ]
    lines += [call("TaskCreate", "t-3", subject="c"), answer("x", "t-3")]
    assert plan_after(*lines) == [("a", "pending"), ("b", "pending"), ("c", "pending")]
    lines += [call("TaskUpdate", "t-4", taskId="1", status="in_progress"), answer("x", "t-4")]
    lines += [call("TaskUpdate", "t-5", taskId="2", status="deleted"), answer("x", "t-5")]
    lines += [call("TaskUpdate", "t-6", taskId="9", status="completed"), answer("x", "t-6")]
    lines += [call("TaskUpdate", "t-7", taskId="1", subject="A"), answer("x", "t-7")]
    assert plan_after(*lines) == [("A", "in_progress"), ("c", "pending")]
    tasks = {"tasks": [{"id": "5", "subject": "z", "status": "completed"}]}
    lines += [call("TaskList", "t-8"), answer("x", "t-8", result=tasks)]
    assert plan_after(*lines) == [("z", "completed")]


def test_other_tools_do_not_change_the_list() -> None:
    """Reading one task, or a list without a structured result, changes nothing."""
    found = events(call("TaskGet", taskId="1"), answer("x"), call("TaskList", "t-2"), answer("x", "t-2"))
    assert not [event for event in found if isinstance(event, Plan)]


def test_a_list_is_bounded() -> None:
    """At most 1,000 entries of 4,096 characters are kept."""
    many = [{"content": "x" * 9999, "status": "pending"}] * 1500
    (plan,) = (each for each in events(call("TodoWrite", todos=many), answer("x")) if isinstance(each, Plan))
    assert (len(plan.entries), len(plan.entries[0].text)) == (1000, 4096)
    lines = [
        each
        for n in range(1003)
        for each in (call("TaskCreate", f"t-{n}", subject=f"s{n}"), answer("x", f"t-{n}"))
    ]
    assert len(plan_after(*lines)) == 1000
