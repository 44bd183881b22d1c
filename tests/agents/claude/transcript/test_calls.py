"""The calls of a transcript are paired, and have the outcome that the agent says."""

from __future__ import annotations

from agentwatch.agents.claude.transcript import Calls, Decoder
from agentwatch.session.events import Outcome, Permission, Plan, ToolEnded, ToolStarted
from tests.builders.on_disk.transcript import (
    AT_MS,
    answer,
    call,
    decoded,
    line,
    returned,
    said,
    session_of,
    user,
)
from tests.conftest import case

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def end_of(*lines: dict[str, object]) -> ToolEnded:
    """Return the only end of a call."""
    (end,) = [event for event in decoded(*lines) if isinstance(event, ToolEnded)]
    return end


def test_the_outcome_is_the_agents() -> None:
    """A failure, a refusal, an interruption and a command in the background are distinguished."""
    cases: list[tuple[dict[str, object], Outcome, int | None]] = [
        (returned("c"), Outcome.SUCCEEDED, None),
        (returned("c", is_error=False), Outcome.SUCCEEDED, None),
        (returned("c", "Exit code 3\nno", is_error=True), Outcome.FAILED, 3),
        (returned("c", "no such file", is_error=True), Outcome.FAILED, None),
        (returned("c", REFUSED, is_error=True), Outcome.REJECTED, None),
        (returned("c", "no", is_error=True, toolDenialKind="user-rejected"), Outcome.REJECTED, None),
        (returned("c", "no", is_error=True, toolDenialKind="interrupted"), Outcome.CANCELLED, None),
        (returned("c", toolUseResult={"interrupted": True}), Outcome.CANCELLED, None),
        (returned("c", toolUseResult={"backgroundTaskId": "b1"}), Outcome.RETURNED, None),
    ]
    for made, outcome, exit_code in cases:
        with case((made, outcome)):
            found = end_of(call("c"), made)
            assert (found.outcome, found.exit_code, found.at_ms) == (outcome, exit_code, AT_MS)


STOPPED = "[Request interrupted by user for tool use]"


def test_a_call_that_ran_and_was_interrupted_is_cancelled() -> None:
    """Its text is that of a refusal: the next text of the user names the message that was interrupted."""
    cases: list[tuple[dict[str, object], list[dict[str, object]], Outcome]] = [
        ({}, [user([{"type": "text", "text": STOPPED}], interruptedMessageId="m")], Outcome.CANCELLED),
        ({}, [line("attachment"), user(STOPPED, interruptedMessageId="m")], Outcome.CANCELLED),
        ({}, [user(STOPPED, interruptedMessageId=5)], Outcome.REJECTED),
        ({}, [user(STOPPED)], Outcome.REJECTED),
        ({}, [user("No, do this."), user(STOPPED, interruptedMessageId="m")], Outcome.REJECTED),
        ({}, [said("I see."), user(STOPPED, interruptedMessageId="m")], Outcome.REJECTED),
        ({}, [], Outcome.REJECTED),
        (
            {"toolDenialBeforeRun": True},
            [user(STOPPED, interruptedMessageId="m")],
            Outcome.REJECTED,
        ),
    ]
    for denial, later, outcome in cases:
        with case((denial, later)):
            refused = returned("c", REFUSED, is_error=True, toolDenialKind="user-rejected", **denial)
            assert end_of(call("c"), refused, *later).outcome is outcome


def test_the_end_of_a_refused_call_waits_for_the_next_line() -> None:
    """Parallel calls that were interrupted end together."""
    decoder = Decoder()
    for each in (call("c"), call("d"), returned("c", REFUSED, is_error=True)):
        assert not [event for event in decoder.decode(each) if isinstance(event, ToolEnded)]
    assert not decoder.decode(returned("d", REFUSED, is_error=True))
    ends = decoder.decode(user(STOPPED, interruptedMessageId="m"))
    found = [(event.call_id, event.outcome) for event in ends if isinstance(event, ToolEnded)]
    assert found == [("c", Outcome.CANCELLED), ("d", Outcome.CANCELLED)]


def test_a_call_without_an_id_has_that_of_its_line() -> None:
    """The first call of a line without ids has the line's id; its result names that line."""
    block = {"type": "tool_use", "name": "bash", "input": {"command": "ls"}}
    events = decoded(
        answer(block, block, uuid="a1"),
        user([{"type": "tool_result", "content": "ok"}], parent="a1"),
        user([{"type": "tool_result", "content": "ok"}], sourceToolAssistantUUID="a1#1"),
        user([{"type": "tool_result", "content": "ok"}]),
    )
    started = [event.call_id for event in events if isinstance(event, ToolStarted)]
    assert started == ["a1", "a1#1"]
    assert [event.call_id for event in events if isinstance(event, ToolEnded)] == ["a1", "a1#1", ""]


def test_paths_are_shown_relative_to_the_first_folder() -> None:
    """The folder may change from line to line; a file keeps its name."""
    first = call("c", "Read", {"file_path": "/w/a.py"})
    second = call("d", "Read", {"file_path": "/w/a.py"}, cwd="/w/sub")
    started = [event for event in decoded(first, second) if isinstance(event, ToolStarted)]
    assert [event.target for event in started] == ["a.py", "a.py"]


def test_a_question_to_the_user_is_asked_and_answered() -> None:
    """The calls that wait for the user are questions, with their answers."""
    asked = call("c", "AskUserQuestion", {"questions": [{"question": "Which?"}, 5]})
    question = Permission("AskUserQuestion", None, at_ms=AT_MS, key="c", call_id="c", target="Which?")
    assert question in decoded(asked)
    answered = returned("c", toolUseResult={"answers": {"Which?": "SQLite", "x": 5}})
    events = decoded(asked, answered)
    assert question._replace(answer="answered", reason="SQLite", target=None) in events
    plan = call("c", "ExitPlanMode", {"plan": "\n# Plan\nmore"})
    assert decoded(plan)[1] == question._replace(subject="ExitPlanMode", target="# Plan")
    refused = decoded(plan, returned("c", REFUSED, is_error=True))
    assert Permission("ExitPlanMode", "rejected", at_ms=AT_MS, key="c", call_id="c") in refused
    failed = decoded(asked, returned("c", "no", is_error=True))
    assert question._replace(answer="answered", target=None) in failed


def test_a_to_do_list_is_a_plan() -> None:
    """A to-do list that was written is the plan."""
    todos = [{"content": "A", "status": "completed"}]
    written = decoded(
        call("c", "TodoWrite", {"todos": todos}), returned("c", toolUseResult={"newTodos": todos})
    )
    assert [event.entries[0].text for event in written if isinstance(event, Plan)] == ["A"]


def test_results_of_the_services_own_tools_are_paired() -> None:
    """A search that the service makes is answered in a line of the agent."""
    search = answer({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}})
    found = answer({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})
    assert end_of(search, found).outcome is Outcome.SUCCEEDED


def test_the_output_of_a_running_command_is_its_progress() -> None:
    """Progress lines replace the output of the open call."""
    progress = line("progress", data={"type": "bash_progress", "fullOutput": "50 %"}, parentToolUseID="c")
    session = session_of(call("c"), progress)
    assert session.calls[0].output == "50 %"
    assert decoded(line("progress", data={"type": "bash_progress"})) == []
    assert decoded(line("progress", data={"type": "hook_progress"})) == []


def test_only_the_newest_open_calls_are_kept() -> None:
    """A call that never ends is forgotten in the end, so it cannot keep its turn open for ever."""
    calls = Calls()
    for number in range(2000):
        list(calls.started({"name": "Bash"}, str(number), {}, "", None))
    assert not calls.is_open("0")
    assert calls.is_open("1999")
    assert calls.has_open()
    long = Calls()
    list(long.started({"name": "Bash"}, "x" * 5000, {}, "", None))
    assert not long.has_open()
