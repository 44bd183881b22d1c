"""The arguments and the result of a call are found in any line."""

from typing import Any

import pytest

from agentwatch.agents import payloads as payload_module
from agentwatch.agents.fields import Fields
from agentwatch.agents.payloads import Payloads, arguments_in, result_in
from tests.conftest import case

ARGS = {"path": "a.py", "result": "not this", "content": {"input": 1}}
RESULT = {"content": "54 lines", "args": "not this"}


def message(*content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "assistant", "content": list(content)}}


def test_the_payload_of_a_call_is_found() -> None:
    """It has one of a few names, in an object that names the call or in a line with one call; without a
    known name that object is returned. A field that is null is passed over.
    """
    cases: list[Fields] = [
        {"call_id": "c-1", "tool_call": {"readToolCall": {"args": ARGS, "result": RESULT}}},
        message(
            {"type": "tool_use", "id": "c-0", "input": 0}, {"type": "tool_use", "id": "c-1", "input": ARGS}
        ),
        {"type": "tool_execution_start", "toolCallId": "c-1", "args": ARGS},
        {"type": "tool.execution_start", "data": {"toolCallId": "c-1", "arguments": ARGS}, "id": "e-1"},
        {"message": {"parts": [{"text": "x"}, {"functionCall": {"id": "c-1", "args": ARGS}}]}},
        {"type": "tool_use", "part": {"callID": "c-1", "state": {"input": ARGS, "output": RESULT}}},
        {"type": "tool_call", "id": "c-1", "parameters": ARGS},
        {"params": {"update": {"toolCallId": "c-1", "rawInput": ARGS, "rawOutput": RESULT}}},
        message({"type": "toolRequest", "id": "c-1", "toolCall": {"value": {"arguments": ARGS}}}),
        message({"type": "tool_use", "input": ARGS}),
    ]
    for line in cases:
        with case(line):
            assert arguments_in(line, "c-1") == ARGS
    further: list[Fields] = [
        {"call_id": "c-1", "tool_call": {"readToolCall": {"args": ARGS, "result": RESULT}}},
        message({"tool_use_id": "c-0", "content": 0}, {"tool_use_id": "c-1", "content": RESULT}),
        {"type": "tool_execution_end", "toolCallId": "c-1", "result": RESULT, "isError": False},
        {"message": {"parts": [{"functionResponse": {"id": "c-1", "response": RESULT}}]}},
        {"type": "tool_use", "part": {"callID": "c-1", "state": {"input": ARGS, "output": RESULT}}},
        {"type": "item.completed", "item": {"id": "c-1", "aggregated_output": RESULT, "exit_code": 0}},
        {"type": "tool_result", "id": "c-1", "value": RESULT},
        {"params": {"update": {"toolCallId": "c-1", "rawInput": ARGS, "rawOutput": RESULT}}},
        {"type": "tool_result", "tool_id": "c-1", "error": RESULT},
    ]
    for line in further:
        with case(line):
            assert result_in(line, "c-1") == RESULT
    item = {"id": "c-1", "type": "command_execution", "command": "ls"}
    line = {"type": "item.started", "item": item}
    assert arguments_in(line, "c-1") == item
    assert arguments_in(line, "") == line
    assert result_in({"type": "x"}, "c-1") == {"type": "x"}
    assert result_in({"id": "c-1", "result": None, "output": ""}, "c-1") == ""


def test_a_line_of_many_values_is_searched_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is searched once for all of its calls, up to 100,000 values, and ten times that number for many
    calls.
    """
    few, many = ({"x": [[]] * count, "y": {"z": {"args": ARGS}}} for count in (99_000, 100_000))
    assert arguments_in(few, "c-1") == ARGS
    assert arguments_in(many, "c-1") == many
    line = message(
        {"type": "tool_use", "id": "c-0", "input": {"a": 1}},
        {"type": "command", "id": "c-1", "command": "ls", "same": "c-1", "output": None, "status": "done"},
    )
    payloads = Payloads(line)
    assert (payloads.names("c-0"), payloads.names("c-2")) == (True, False)
    assert payloads.arguments("c-0") == ({"a": 1}, True)
    assert payloads.result("c-1") == (line["message"]["content"][1], False)
    assert payloads.request("c-1") == {"type": "command", "command": "ls", "status": "done"}
    assert payloads.request("c-0") == {"a": 1}
    assert Payloads({"id": "c-1", "input": "ls"}).request("c-1") == {}
    monkeypatch.setattr(payload_module, "_MOST_VALUES", 3)
    payloads = Payloads({"id": "c-1", "x": {"y": {"args": ARGS}}})
    found = [payloads.arguments("c-1").is_named for _ in range(20)]
    assert found == [True] * 9 + [False] * 11
