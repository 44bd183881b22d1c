"""A result decides the outcome, the exit code and the note of its call."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.agents.claude.calls import TOOLS, read_result
from agentwatch.agents.registry import agent_named
from agentwatch.session.events import Outcome, Plan, PlanEntry, PlanStatus, ToolEnded
from tests.builders.claude_lines import (
    Json,
    answer,
    assistant,
    call,
    events,
    init,
    line,
    result,
    say,
    user,
    written,
)
from tests.builders.lines import session
from tests.conftest import case

OK, FAILED, REJECTED = Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED
REFUSED = "[Operation Cancelled] Reason: User did not allow tool call"
CANCELLED, RETURNED = Outcome.CANCELLED, Outcome.RETURNED
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected"
QWENS = 'Qwen Code requires permission to use "edit", but that permission was declined.'
OUTCOMES: list[tuple[str, Any, bool | None, Any, Outcome, str | None, int | None]] = [
    ("Bash", "x", None, None, OK, None, None),
    ("Bash", "x", False, {"stdout": "x", "interrupted": False}, OK, None, None),
    ("Bash", "x", False, {"stdout": "x", "exit_code": 0}, OK, None, 0),
    ("Bash", "x", False, {"stdout": "x", "exitCode": 2}, FAILED, "exit 2", 2),
    ("Bash", "Exit code 1\nboom", True, "Error: Exit code 1", FAILED, "exit 1", 1),
    ("PowerShell", "Exit code 127", True, None, FAILED, "exit 127", 127),
    ("Bash", "Exit code -1\nx", True, None, FAILED, "exit -1", -1),
    ("Bash", "Exit code x", True, None, FAILED, "Exit code x", None),
    ("Bash", "Exit code 99999999999999", True, None, FAILED, "exit 9999999999", 9999999999),
    ("Read", "Exit code 1", True, None, FAILED, "Exit code 1", None),
    ("Bash", [{"type": "text", "text": "Exit code 5\nx"}], True, None, FAILED, "exit 5", 5),
    ("Bash", "Exit code 1\nthis requires approval", True, None, FAILED, "exit 1", 1),
    ("Bash", "Command timed out after 2m", True, None, FAILED, "Command timed out after 2m", None),
    ("Read", "<tool_use_error>No such file</tool_use_error>", True, None, FAILED, "No such file", None),
    ("Bash", "", True, {"stderr": "boom"}, FAILED, "boom", None),
    ("Bash", "", True, None, FAILED, "the tool says so", None),
    ("TaskUpdate", "no", None, {"success": False, "error": "not found"}, FAILED, "not found", None),
    ("TaskUpdate", "no", None, {"success": False}, FAILED, "no", None),
    ("Bash", "x", None, {"is_error": True, "stderr": "x"}, FAILED, "x", None),
    ("Bash", "This command requires approval", True, None, REJECTED, "This command requires approval", None),
    ("Bash", "touch in '/x' needs approval.", True, None, REJECTED, "touch in '/x' needs approval.", None),
    ("Bash", "Command contains $() x", True, None, REJECTED, "Command contains $() x", None),
    ("Read", "Command contains $() x", True, None, FAILED, "Command contains $() x", None),
    ("Bash", "PreToolUse:Bash hook error: no", True, None, REJECTED, "PreToolUse:Bash hook error: no", None),
    ("Write", REFUSAL, True, "User rejected tool use", REJECTED, REFUSAL, None),
    ("Edit", QWENS, True, None, REJECTED, QWENS, None),
    ("Bash", "", False, {"interrupted": True}, CANCELLED, None, None),
    ("Bash", "x", True, {"interrupted": True}, CANCELLED, "x", None),
    ("Bash", "[Request interrupted by user]", True, None, CANCELLED, "[Request interrupted by user]", None),
    ("Bash", REFUSED, True, None, Outcome.REJECTED, REFUSED, None),
    ("Bash", "Command running in background with ID: x", None, None, RETURNED, None, None),
    ("Bash", "It was moved to the background (ID: x).", None, None, RETURNED, None, None),
    ("Bash", "x", None, {"backgroundTaskId": "x"}, RETURNED, None, None),
    ("Task", "x", None, {"isAsync": True, "status": "async_launched"}, RETURNED, None, None),
    ("Task", "x", None, {"status": "async_launched"}, RETURNED, None, None),
    ("Task", "x", None, {"status": "backgrounded", "outputFile": "/x"}, RETURNED, None, None),
    ("Task", "x", None, {"status": "teammate_spawned"}, RETURNED, None, None),
    ("Task", "[Request interrupted by user for tool use]", None, None, CANCELLED, None, None),
    ("Bash", "[Request interrupted by user for tool use]", None, None, OK, None, None),
    ("Task", "x", None, {"status": "completed"}, OK, None, None),
    ("Read", "Command running in background", None, None, OK, None, None),
]


def test_a_result_decides_the_outcome() -> None:
    """Flags, texts and structured results decide the outcome, its reason and the exit code."""
    for tool, content, is_error, structured, outcome, error, code in OUTCOMES:
        with case((tool, content, is_error)):
            block = {"content": content} if is_error is None else {"content": content, "is_error": is_error}
            found = read_result(TOOLS[tool], block, structured)
            assert (found.outcome, found.error, found.exit_code) == (outcome, error, code)


@pytest.mark.parametrize("is_error", [True, None])
def test_a_denied_call_is_rejected_whatever_its_text_says(is_error: bool | None) -> None:
    """A line that says that a call was refused decides its outcome."""
    denied = line("system", "permission_denied", tool_use_id="t-1", tool_name="Bash", message="A rule.")
    found = events(call("Bash", command="ls"), denied, answer("No.", is_error=is_error))
    (asked,) = [each for each in found if type(each).__name__ == "Permission"]
    assert (asked.subject, asked.answer, asked.reason, asked.is_automatic) == (
        "Bash",
        "denied",
        "A rule.",
        True,
    )
    assert isinstance(found[-1], ToolEnded)
    assert (found[-1].outcome, found[-1].error) == (REJECTED, "No.")


NOTES: list[tuple[str, dict[str, Any], Any, Any, str | None, str]] = [
    ("Read", {}, "x", {"file": {"numLines": 9, "startLine": 1, "totalLines": 9}}, "9 lines", "Read file"),
    (
        "Read",
        {},
        "x",
        {"file": {"numLines": 9, "startLine": 4, "totalLines": 99}},
        "lines 4-12 of 99",
        "Read file",
    ),
    ("Read", {}, "x", {"file": {"numLines": 1}}, "1 line", "Read file"),
    ("Read", {}, "x", {"type": "image", "file": {"base64": "AA"}}, None, "Read file"),
    ("Write", {}, "x", {"type": "create", "content": "a\nb\n"}, "2 lines", "Created new file"),
    ("Write", {}, "x", {"type": "create", "content": 5}, None, "Created new file"),
    ("Write", {"content": "a\nb"}, "File created", None, "2 lines", "Created new file"),
    ("Write", {"content": "a"}, "The file x has been updated.", None, None, "Edited file"),
    ("Write", {}, "x", {"type": "update", "structuredPatch": []}, None, "Edited file"),
    ("Edit", {}, "x", {"oldString": "", "newString": "a", "originalFile": ""}, "1 line", "Created new file"),
    ("Edit", {}, "x", {"oldString": "a", "newString": "b", "originalFile": None}, None, "Edited file"),
    ("Glob", {}, "x", {"numFiles": 3}, "3 files", "Found files"),
    ("Grep", {}, "x", {"mode": "files_with_matches", "numFiles": 1}, "1 file", "Searched files"),
    ("Grep", {}, "x", {"mode": "count", "numMatches": 2}, "2 matches", "Searched files"),
    ("Grep", {}, "x", {"mode": "content", "numLines": 2}, "2 lines", "Searched files"),
    ("WebSearch", {}, "x", {"results": ["a", {"content": [{}, {}]}]}, "2 results", "Searched the web"),
    ("WebSearch", {}, "x", {"query": "x"}, None, "Searched the web"),
    ("TodoWrite", {}, "x", {"newTodos": [{"status": "completed"}, 5]}, "1 of 2 done", "Updated to-do list"),
    ("TodoWrite", {}, "x", {"newTodos": []}, None, "Updated to-do list"),
    ("Task", {}, "x", {"status": "completed", "totalToolUseCount": 3}, "3 calls", "Ran subagent"),
    ("Bash", {}, "x", {"backgroundTaskId": "b"}, "in the background", "Ran terminal command"),
]


def test_a_result_has_a_note() -> None:
    """The note names the size of a result, and the phrase whether a file is new."""
    for tool, arguments, content, structured, note, phrase in NOTES:
        with case((tool, arguments, content)):
            fields = {} if structured is None else {"result": structured}
            ended = next(
                event
                for event in events(init(), call(tool, **arguments), answer(content, **fields))
                if isinstance(event, ToolEnded)
            )
            assert (ended.note, ended.phrase) == (note, phrase)
            assert ended.is_new_file == (phrase == "Created new file")


def test_changed_lines_are_counted() -> None:
    """The patch of a result counts, and the arguments without a patch."""
    patch = [{"lines": ["+a", "+b", "-c", " d"]}]
    edited = call("Edit", file_path="/x", old_string="a", new_string="b\nc\nd")
    for end, counts in ((answer("x", result={"structuredPatch": patch}), (2, 1)), (answer("x"), (3, 1))):
        ended = events(edited, end)[-1]
        assert (ended.lines_added, ended.lines_removed) == counts


def test_a_subagents_duration_is_its_own() -> None:
    """The result of a subagent's call has the duration that the agent measured."""
    ended = events(call("Task", description="x"), answer("x", result={"totalDurationMs": 6869}))[-1]
    assert ended.duration_ms == 6869


def test_a_result_that_was_only_partly_read_has_no_outcome() -> None:
    """A line that is too large to be read may lack what decides the outcome."""
    data = written(answer("x" * 100))
    decoder = Decoder(agent_named("claude-code"))
    decoder.decode(written(call("Bash", command="ls")))
    ended = decoder.decode_oversize(data[:150], data[-100:], len(data))[-1]
    assert isinstance(ended, ToolEnded)
    assert (ended.call_id, ended.outcome) == ("t-1", RETURNED)


def test_an_end_without_a_start_is_a_call() -> None:
    """A result whose start is missing is a call whose tool has no name."""
    ended = events(answer("x", "t-9"))[-1]
    assert (ended.call_id, ended.tool, ended.target, ended.outcome) == ("t-9", "", None, OK)


def test_the_to_do_list_is_that_of_the_main_agent() -> None:
    """A to-do list that a subagent writes does not replace the main agent's."""
    todos = [{"content": "x", "status": "in_progress"}]
    found = events(call("TodoWrite", todos=todos), answer("ok"))
    assert found[-1] == Plan((PlanEntry("x", PlanStatus.IN_PROGRESS),))
    inner = {**call("TodoWrite", todos=todos), "parent_tool_use_id": "t-0"}
    found = events(inner, answer("ok", parent_tool_use_id="t-0"))
    assert not any(isinstance(event, Plan) for event in found)


STOPPED = user("[Request interrupted by user for tool use]")
ABORTED: Json = {"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_tools"}
NOT_RUN = answer(
    REFUSAL, is_error=True, tool_result_meta=[{"id": "t-1", "non_execution_kind": "user-rejected"}]
)
DENIALS = [{"tool_name": "Bash", "tool_use_id": "t-1"}]


def test_a_call_that_the_result_calls_denied_was_rejected() -> None:
    """Its own text need not say so; a call of an earlier turn, and one that succeeded, is not corrected."""
    cases: list[tuple[list[Json], Outcome]] = [
        ([answer("uses .NET methods", is_error=True), result(permission_denials=DENIALS)], REJECTED),
        ([answer(REFUSED[:10], is_error=True), result(permission_denials=DENIALS * 2)], REJECTED),
        ([answer("no", is_error=True), result(permission_denials=[{"tool_use_id": "t-2"}, 5])], FAILED),
        ([answer("no", is_error=True), result(), result(permission_denials=DENIALS)], FAILED),
        ([answer("ok"), result(permission_denials=DENIALS)], OK),
    ]
    for lines, outcome in cases:
        with case(lines):
            found = session(written(init(), call("Bash", command="ls"), *lines))
            assert [each.outcome for each in found.calls] == [outcome]
            assert {key: count for key, count in found.ended_by_outcome.items() if count} == {outcome: 1}
            assert found.calls.as_ended(found.calls[0]).outcome is (
                FAILED if outcome is REJECTED else outcome
            )


def test_a_command_that_ran_and_was_interrupted_is_cancelled() -> None:
    """The text is that of a refusal; the end of the turn says whether the call was refused before it ran."""
    cases: list[tuple[list[Json], Outcome]] = [
        ([STOPPED, result(**ABORTED, permission_denials=[])], CANCELLED),
        ([result(**ABORTED)], CANCELLED),
        ([STOPPED, result(subtype="error_during_execution", is_error=True)], CANCELLED),
        ([STOPPED, result(**ABORTED, permission_denials=DENIALS)], REJECTED),
        ([STOPPED, init()], CANCELLED),
        ([STOPPED], CANCELLED),
        ([say("I see."), result("I see.")], REJECTED),
        ([result("I see.")], REJECTED),
        ([], REJECTED),
    ]
    for later, outcome in cases:
        with case(later):
            for refused in (NOT_RUN, answer(REFUSAL, is_error=True)):
                (found,) = session(written(init(), call("Bash"), refused, *later)).calls
                assert found.outcome is outcome


def test_a_line_may_say_why_a_call_did_not_run() -> None:
    """The field decides, whatever the text is."""
    cases: list[tuple[object, Outcome]] = [
        ("permission-rule", REJECTED),
        ("automode-blocked", REJECTED),
        ("user-rejected", REJECTED),
        ("interrupted", CANCELLED),
        ("cancelled", CANCELLED),
        (None, FAILED),
        (5, FAILED),
    ]
    for kind, outcome in cases:
        with case(kind):
            metas = [
                5,
                {"id": "t-2", "non_execution_kind": "cancelled"},
                {"id": "t-1", "non_execution_kind": kind},
            ]
            found = events(call("Bash"), answer("Not here.", is_error=True, tool_result_meta=metas))
            assert found[-1].outcome is outcome


def test_a_refusal_with_the_words_of_the_user_is_clear() -> None:
    """The user was asked, and said what to do instead: the call did not run."""
    words = f"{REFUSAL} To tell you how to proceed, the user said:\nUse make."
    assert events(call("Bash"), answer(words, is_error=True))[-1].outcome is REJECTED


def test_the_calls_that_wait_to_be_decided_are_bounded() -> None:
    """Of more than 64 the oldest are refused."""
    uses = [{"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {}} for n in range(70)]
    answers = [answer(REFUSAL, f"c{n}", is_error=True) for n in range(70)]
    found = [event for event in events(assistant(*uses), *answers) if isinstance(event, ToolEnded)]
    assert [event.call_id for event in found] == [f"c{n}" for n in range(6)]


def test_the_structured_result_of_a_refused_call_is_a_sentence() -> None:
    """It decides if the text is another one: the user may have answered a question with a question."""
    words = "The user wants to clarify these questions."
    found = events(call("AskUserQuestion"), answer(words, is_error=True, result="User rejected tool use"))
    assert (found[-1].outcome, found[-1].error) == (REJECTED, words)
    assert events(call("Bash"), answer("x", is_error=True, result="Error: x"))[-1].outcome is FAILED
