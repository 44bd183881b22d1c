"""The calls of a Qwen chat have the outcome that the agent says, and the exit code that it shows."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.qwen.agent import CHAT as AGENT
from agentwatch.agents.qwen.chat import Calls
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, ToolEnded, ToolStarted
from tests.builders.on_disk.qwen_chat import call, decoded, line, returned, telemetry
from tests.conftest import case

DIFF = "Index: a.txt\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"


def end_of(*lines: dict[str, Any]) -> ToolEnded:
    """Return the only end of a call."""
    (end,) = [event for event in decoded(*lines) if isinstance(event, ToolEnded)]
    return end


def test_the_outcome_is_the_agents_word() -> None:
    """The status decides; a refusal and an interruption are found by the words of the error."""
    cases: list[tuple[dict[str, Any], object, Outcome, str | None]] = [
        ({}, None, Outcome.SUCCEEDED, None),
        ({"status": "error"}, {"error": "no such file"}, Outcome.FAILED, "no such file"),
        ({"status": "error", "resultDisplay": {"exitCode": 3}}, {"error": "long"}, Outcome.FAILED, "exit 3"),
        ({"status": "error", "error": {"message": "why"}}, None, Outcome.FAILED, "why"),
        ({"status": "error", "errorType": "execution_denied"}, None, Outcome.REJECTED, "execution_denied"),
        (
            {"status": "error"},
            {"error": "Tool requires approval"},
            Outcome.REJECTED,
            "Tool requires approval",
        ),
        (
            {"status": "cancelled"},
            {"error": "[Operation Cancelled] x"},
            Outcome.CANCELLED,
            "[Operation Cancelled] x",
        ),
        (
            {"status": "cancelled"},
            {"error": "[Operation Cancelled] Reason: User did not allow tool call"},
            Outcome.REJECTED,
            "[Operation Cancelled] Reason: User did not allow tool call",
        ),
        ({"status": None}, None, Outcome.RETURNED, None),
        ({"status": None}, {"error": "no"}, Outcome.FAILED, "no"),
        ({"status": "odd"}, None, Outcome.RETURNED, "unknown status odd"),
    ]
    for about, response, outcome, error in cases:
        with case((about, response, outcome)):
            end = end_of(call("c"), returned("c", response=response, **about))
            assert (end.outcome, end.error) == (outcome, error)


def test_the_exit_code_is_that_of_the_displayed_result() -> None:
    """Newer versions show the exit code of a command; older ones do not."""
    shown = {"type": "shell_result", "exitCode": 3}
    assert end_of(call("c"), returned("c", status="error", resultDisplay=shown)).exit_code == 3
    assert end_of(call("c"), returned("c", resultDisplay={**shown, "exitCode": 0})).exit_code == 0
    assert end_of(call("c"), returned("c")).exit_code is None


def test_the_text_of_a_failed_command_ends_with_its_exit_code() -> None:
    """Versions whose displayed result has none write it after the output."""
    cases: list[tuple[str, str, int | None]] = [
        ("Command: x\nOutput: Exit Code: 7\nError: (none)\nExit Code: 1", "run_shell_command", 1),
        (
            "Exit Code: 2\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 4",
            "run_shell_command",
            2,
        ),
        ("Exit Code: (none)\nSignal: 9", "run_shell_command", None),
        ("Exit Code: 7\nnot at its end", "run_shell_command", None),
        ("Signal: 9", "run_shell_command", None),
        ("Exit Code: 1", "read_file", None),
    ]
    for text, name, exit_code in cases:
        with case((text, name)):
            end = end_of(call("c", name), returned("c", response={"error": text}, status="error"))
            assert (end.outcome, end.exit_code) == (Outcome.FAILED, exit_code)
            assert end.error == (text if exit_code is None else f"exit {exit_code}")
            assert end_of(call("c", name), returned("c", response={"error": text})).exit_code is None


def test_a_response_of_another_id_ends_the_call_that_its_line_names() -> None:
    """The id beside the response is that of the call."""
    end = end_of(call("c"), returned("r", callId="c"))
    assert (end.call_id, end.outcome) == ("c", Outcome.SUCCEEDED)


def test_the_duration_is_that_of_the_telemetry() -> None:
    """The agent measures a call, and writes the duration before the result."""
    measured = telemetry("tool_call", call_id="c", duration_ms=3352)
    assert end_of(call("c"), measured, returned("c")).duration_ms == 3352
    assert end_of(measured, returned("c")).duration_ms is None


def test_an_edit_has_its_changed_lines() -> None:
    """The lines are those of the displayed diff, otherwise those of the arguments."""
    edit = call("c", "edit", file_path="/w/a.txt", old_string="b", new_string="B\nC")
    shown = {"fileDiff": DIFF, "fileName": "a.txt", "originalContent": "a\nb"}
    end = end_of(edit, returned("c", "edit", resultDisplay=shown))
    assert (end.lines_added, end.lines_removed, end.is_new_file) == (1, 1, False)
    assert end_of(edit, returned("c", "edit", resultDisplay={**shown, "originalContent": None})).is_new_file
    end = end_of(edit, returned("c", "edit", resultDisplay={**shown, "fileDiffTruncated": True}))
    assert (end.lines_added, end.lines_removed) == (2, 1)
    new = end_of(call("c", "write_file", file_path="/w/b", content="x\ny\n"), returned("c", "write_file"))
    assert (new.lines_added, new.is_new_file, new.note) == (2, True, "2 lines")


def test_a_call_names_its_target() -> None:
    """A path is shown relative to the folder of the session."""
    started = [
        event for event in decoded(call("c", "read_file", path="/w/a.py")) if isinstance(event, ToolStarted)
    ]
    assert [(event.target, event.path) for event in started] == [("a.py", "/w/a.py")]


def test_an_end_without_a_start_names_its_tool() -> None:
    """The result of a call repeats the tool's name."""
    assert end_of(returned("c", "glob")).tool == "glob"
    assert end_of(line("tool_result", {"functionResponse": 5})).tool == ""


def test_only_the_newest_open_calls_are_kept() -> None:
    """A call that never ends is forgotten in the end."""
    calls = Calls()
    for number in range(5000):
        calls.started({"id": str(number), "name": "glob"}, {}, "", None)
    assert calls.ended({"id": "0"}, {}, None).tool == ""
    assert calls.ended({"id": "4999"}, {}, None).tool == "glob"
    calls.started({"id": "x" * 5000, "name": "glob"}, {}, "", None)
    assert calls.ended({"id": "x" * 5000}, {}, None).tool == ""


def test_a_line_has_the_blocks_of_its_call() -> None:
    """Changes are diffs, commands have output, and each line shows only the call that is asked for."""
    cases: list[tuple[dict[str, Any], list[Block]]] = [
        (call("c"), [FieldsBlock("arguments", {"command": "ls"})]),
        (call("c", command="a\nb"), [TextBlock("command", "a\nb")]),
        (call("other"), []),
        (
            call("c", "write_file", file_path="a", content="x"),
            [
                ChangeBlock(None, after="x"),
                FieldsBlock("arguments", {"file_path": "a"}),
            ],
        ),
        (call("c", "edit", old_string="b", new_string="B"), [ChangeBlock("@@ -1,1 +1,1 @@\n-b\n+B")]),
        (
            call("c", "todo_write", todos=[{"content": "A"}]),
            [PlanBlock((PlanEntry("A", PlanStatus.PENDING),))],
        ),
        (returned("c"), [OutputBlock("stdout", "ok")]),
        (returned("other"), []),
        (returned("c", "web_fetch"), [MarkdownBlock("ok")]),
        (returned("c", "web_search"), [MarkdownBlock("ok")]),
        (returned("c", "read_file"), [ContentBlock("ok")]),
        (returned("c", "edit"), [TextBlock("message", "ok")]),
        (returned("c", "edit", resultDisplay={"fileDiff": DIFF}), [ChangeBlock(DIFF)]),
        (returned("c", response={"error": "no"}), [ErrorBlock("no")]),
        (
            returned("c", response={"error": "long"}, resultDisplay={"output": "short"}),
            [OutputBlock("stdout", "short")],
        ),
    ]
    for made, expected in cases:
        with case(made):
            assert list(AGENT.blocks(made, "c")) == expected


def test_an_image_is_named_with_its_size() -> None:
    """The data of an image is not shown."""
    data = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    response = {
        "functionResponse": {"id": "c", "response": {}, "parts": [data, {"inlineData": {"data": "QQ=="}}, {}]}
    }
    assert list(AGENT.blocks(line("tool_result", response), "c")) == [
        BinaryBlock("image/png", 3),
        BinaryBlock("binary", 1),
    ]
