"""Calls of a rollout are joined from their start, their output, and what items and events say of them."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents import open_calls
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus
from tests.builders.codex.lines import (
    META,
    Json,
    completed,
    event,
    function,
    item,
    message,
    notes,
    only_call,
    output,
    read,
)

LS = function("exec_command", {"cmd": "ls"})
ABORTED = event("turn_aborted", reason="interrupted", duration_ms=9)


def command(code: int | None, status: str = "completed", item_id: str = "c-1", **fields: Any) -> Json:
    """Return the item of a command that ended."""
    return completed("CommandExecution", item_id, command=["ls"], status=status, exit_code=code, **fields)


def test_the_item_of_a_command_decides_before_its_output() -> None:
    """The item has the exit code and the duration; the output that follows changes nothing."""
    end = command(3, "failed", duration={"secs": 1, "nanos": 5_000_000})
    call = only_call(META, LS, end, output("Process exited with code 0\nOutput:\n"))
    assert (call.outcome, call.exit_code, call.duration_ms, call.tool) == ("failed", 3, 1005, "exec_command")
    assert only_call(META, LS, command(None, "inProgress")).outcome is Outcome.UNFINISHED


def test_a_process_that_goes_on_keeps_its_call_open() -> None:
    """The call ends with the process: by an item, or by what `write_stdin` returns."""
    running = output("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n12 %")
    found = read(META, LS, running)
    assert [(call.outcome, call.note) for call in found.calls] == [(Outcome.RETURNED, "in the background")]
    assert only_call(META, LS, running, command(0)).outcome is Outcome.SUCCEEDED
    poll = function("write_stdin", {"session_id": 7, "chars": "y\n"}, "c-2")
    later = output("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n50 %", "c-2")
    over = output("Wall time: 1 seconds\nProcess exited with code 4\nOutput:\n", "c-2")
    first, second = read(META, LS, running, poll, over).calls
    assert (first.outcome, first.exit_code, first.target) == (Outcome.FAILED, 4, "ls")
    assert (second.outcome, second.exit_code, second.target) == (Outcome.FAILED, 4, "write_stdin 7 y")
    first, second = read(META, LS, running, poll, later).calls
    assert [first.outcome, second.outcome] == [Outcome.RETURNED, Outcome.RETURNED]
    elsewhere = function("write_stdin", {"session_id": 8}, "c-2")
    first, second = read(META, LS, running, elsewhere, over).calls
    assert [first.outcome, second.outcome] == [Outcome.RETURNED, Outcome.FAILED]


@pytest.mark.parametrize("cell", ["66", 66])
def test_a_script_that_goes_on_ends_with_the_call_that_waits_for_it(cell: Any) -> None:
    """Each `wait` is a call of its own; the one whose output says that the script ended ends it as well."""
    script = item("custom_tool_call", name="exec", input="run()", call_id="c-1")
    running = "Script running with cell ID 66\nWall time 1.0 seconds\nOutput:\n"
    lines = [
        META,
        script,
        output(running),
        function("wait", {"cell_id": cell}, "c-2"),
        output(running, "c-2"),
    ]
    assert [call.outcome for call in read(*lines).calls] == [Outcome.RETURNED, Outcome.RETURNED]
    over = output("Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nno", "c-3")
    first, _, last = read(*lines, function("wait", {"cell_id": cell}, "c-3"), over).calls
    assert (first.outcome, first.error, first.target) == (Outcome.FAILED, "no", "exec run()")
    assert (last.outcome, last.kind, last.target) == (Outcome.FAILED, "execute", "wait 66")


def test_a_call_that_the_user_interrupted_was_cancelled() -> None:
    """Its output says so; a call without an output was cancelled too, unless the output still comes."""
    assert only_call(META, LS, output("aborted by user"), ABORTED, command(0)).outcome is Outcome.CANCELLED
    assert only_call(META, LS, ABORTED).outcome is Outcome.CANCELLED
    assert only_call(META, LS, ABORTED, event("task_started")).outcome is Outcome.CANCELLED
    late = output("Exit code: 0\nOutput:\n")
    assert only_call(META, LS, ABORTED, late, event("task_started")).outcome is Outcome.SUCCEEDED
    assert read(META, LS, ABORTED).outcome is Outcome.CANCELLED


def test_a_call_without_a_start_is_shown() -> None:
    """An item that no line announced is a call with both ends; an output alone has no name."""
    found = read(META, command(0), command(None, "inProgress", "c-2"), output("x", "c-3"))
    assert [(call.tool, call.outcome) for call in found.calls] == [
        ("command_execution", Outcome.SUCCEEDED),
        ("command_execution", Outcome.UNFINISHED),
        ("", Outcome.RETURNED),
    ]
    assert found.completed_without_started == 1


def test_the_calls_that_are_kept_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest open call is forgotten first; its end is still joined by its id."""
    monkeypatch.setattr(open_calls, "MOST_OPEN", 2)
    starts = [function("exec_command", {"cmd": "ls"}, f"c-{number}") for number in range(5)]
    found = read(META, *starts, *(output("Exit code: 0\nOutput:\n", f"c-{number}") for number in range(5)))
    assert [call.outcome for call in found.calls] == [Outcome.SUCCEEDED] * 5
    assert [call.phrase for call in found.calls] == ["Used tool"] * 3 + ["Ran terminal command"] * 2


def test_a_plan_is_updated_when_its_call_succeeds() -> None:
    """A call that fails leaves the plan as it was; at most 64 plans are kept."""
    plan = {"plan": [{"step": "a", "status": "in_progress"}, {"step": "b"}]}
    entries = (PlanEntry("a", PlanStatus.IN_PROGRESS), PlanEntry("b", PlanStatus.PENDING))
    assert read(META, function("update_plan", plan), output("Plan updated")).plan == entries
    assert read(META, function("update_plan", plan), output("unsupported call: update_plan")).plan == ()
    many = [function("update_plan", plan, f"c-{number}") for number in range(66)]
    assert read(META, *many, output("Plan updated", "c-0")).plan == ()
    assert read(META, *many, output("Plan updated", "c-65")).plan == entries


def test_a_question_is_asked_until_its_call_ends() -> None:
    """The status line shows the question until it is answered."""
    ask = function("request_user_input", {"questions": [{}, {"question": "Which?"}]})
    assert read(META, ask).asked.count == 1
    assert only_call(META, ask).target == "request_user_input Which?"
    assert read(META, ask, output('{"answers":{}}')).asked.oldest is None


def test_a_call_outside_the_sandbox_is_noted() -> None:
    """The rollout does not say whether somebody is asked, so this is no question."""
    ask = function("exec_command", {"cmd": "touch x", "sandbox_permissions": "require_escalated"})
    found = read(META, ask)
    assert notes(found) == ["needs permission to run outside the sandbox: touch x"]
    assert found.asked.count == 0


def test_a_search_without_an_id_has_a_number() -> None:
    """Older versions gave searches no id: each is a call of its own."""
    search = item("web_search_call", action={"query": "q"})
    assert [call.call_id for call in read(META, search, search).calls] == ["web_search_1", "web_search_2"]


def test_a_tool_search_ends_with_its_tools() -> None:
    """The result is a list of tools, so the search succeeded."""
    start = item("tool_search_call", call_id="c-1", arguments={"query": "mail"})
    call = only_call(META, start, item("tool_search_output", call_id="c-1", tools=[]))
    assert (call.target, call.phrase, call.outcome) == ("tool_search mail", "Used tool", Outcome.SUCCEEDED)


def test_the_times_of_a_call_are_those_of_its_lines() -> None:
    """A call begins with its line; an item that no line announced has its own start."""
    start = LS | {"timestamp": "2026-01-01T00:00:01.000Z"}
    end = event("item_completed", item=command(0)["payload"]["item"], started_at_ms=1, completed_at_ms=5)
    call = only_call(META, start, end | {"timestamp": "2026-01-01T00:00:09Z"})
    assert (call.started_ms, call.ended_ms) == (1_767_225_601_000, 5)
    assert only_call(META, end).duration_ms == 4
    assert read(META, message("user", "x"), start).calls[0].started_ms == 1_767_225_601_000
