"""Lines of Copilot, on disk and in the stream."""

from itertools import count
from typing import Any

_numbers = count(1)
START_DATA: dict[str, Any] = {
    "sessionId": "s-1",
    "copilotVersion": "1.0.102",
    "selectedModel": "m-1",
    "context": {"cwd": "/w"},
}


def line(kind: str, data: Any = None, **more: Any) -> dict[str, Any]:
    """Return a line with an id and a time of its own."""
    number = next(_numbers)
    head = {"type": kind, "data": {} if data is None else data, "id": f"e{number}"}
    return {**head, "timestamp": f"2026-11-21T22:{number // 60 % 60:02}:{number % 60:02}.000Z", **more}


def passing(kind: str, data: Any = None, **more: Any) -> dict[str, Any]:
    """Return a line that only the stream has."""
    return line(kind, data, ephemeral=True, **more)


def start() -> dict[str, Any]:
    """Return the first line of a file."""
    return line("session.start", START_DATA)


def user(words: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
    return line("user.message", {"content": words, **data}, **({} if agent is None else {"agentId": agent}))


def message(words: Any, *requests: dict[str, Any], agent: str | None = None, **data: Any) -> dict[str, Any]:
    whole = {"content": words, "messageId": "m", "toolRequests": list(requests), **data}
    return line("assistant.message", whole, **({} if agent is None else {"agentId": agent}))


def request(call_id: str, name: str, arguments: Any = None) -> dict[str, Any]:
    """Return a call that a message announces."""
    return {"toolCallId": call_id, "name": name, "arguments": arguments or {}}


def delta(words: str, message_id: str = "m", **more: Any) -> dict[str, Any]:
    return passing("assistant.message_delta", {"messageId": message_id, "deltaContent": words}, **more)


def begin(step: str = "0", **more: Any) -> dict[str, Any]:
    """Return the line that begins a step of the model."""
    return line("assistant.turn_start", {"turnId": step}, **more)


def done(step: str = "0", **more: Any) -> dict[str, Any]:
    return line("assistant.turn_end", {"turnId": step}, **more)


def started(call_id: str, name: str, arguments: Any = None, **data: Any) -> dict[str, Any]:
    head = {"toolCallId": call_id, "toolName": name, "arguments": arguments or {}}
    return line("tool.execution_start", {**head, **data})


def ended(call_id: str, content: Any = "", *, success: Any = True, **data: Any) -> dict[str, Any]:
    head = {"toolCallId": call_id, "success": success, "result": {"content": content}}
    return line("tool.execution_complete", {**head, **data})


def failed(call_id: str, why: str, code: str = "failure") -> dict[str, Any]:
    return ended(call_id, success=False, error={"message": why, "code": code})


ASKED = {"requestId": "r", "permissionRequest": {"kind": "shell", "toolCallId": "c", "fullCommandText": "ls"}}
STREAM: list[dict[str, Any]] = [
    *(start(), passing("session.tools_updated", {"model": "m-2"}), user("Go"), begin()),
    passing("assistant.reasoning_delta", {"reasoningId": "t", "deltaContent": "Hm."}),
    *(
        delta("I "),
        delta("look."),
        message("I look.", request("c", "bash", {"command": "ls"}), reasoningText="Hm."),
    ),
    *(started("c", "bash", {"command": "ls"}), line("permission.requested", ASKED)),
    line("permission.completed", {"requestId": "r", "result": {"kind": "approved"}}),
    passing("tool.execution_partial_result", {"toolCallId": "c", "partialOutput": "a\n"}),
    ended("c", "a\n", shellExecution={"exitCode": 0}),
    passing("assistant.reasoning", {"reasoningId": "t", "content": "Hm."}),
    *(done(), begin("1"), message("Done."), done("1")),
    {"type": "result", "timestamp": "2026-11-21T23:00:00Z", "sessionId": "s-1", "exitCode": 0},
]
"""A stream with one call."""
