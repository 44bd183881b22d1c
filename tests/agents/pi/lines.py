"""Lines of Pi's stream and of its session files."""

from typing import Any

HEADER: dict[str, Any] = {
    "type": "session",
    "version": 3,
    "id": "s-1",
    "timestamp": "2026-11-20T21:06:49.586Z",
    "cwd": "/w",
}


def assistant(*parts: dict[str, Any], stop: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(parts), "provider": "acme", "model": "m-1"}
    return {**message, "stopReason": stop, "timestamp": 1, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thought(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words}


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def user(words: Any) -> dict[str, Any]:
    return {"role": "user", "content": words, "timestamp": 1}


def end(message: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message_end", "message": message}


def update(kind: str, index: Any = 0, **more: Any) -> dict[str, Any]:
    return {"type": "message_update", "assistantMessageEvent": {"type": kind, "contentIndex": index, **more}}


def delta(words: str, index: Any = 0, kind: str = "text") -> dict[str, Any]:
    return update(f"{kind}_delta", index, delta=words)


def started(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_execution_start", "toolCallId": call_id, "toolName": name, "args": arguments}


def result(words: str, **details: Any) -> dict[str, Any]:
    return {"content": [text(words)], "details": details}


def ended(
    call_id: str, name: str, words: str = "", *, is_error: Any = False, **details: Any
) -> dict[str, Any]:
    line = {"type": "tool_execution_end", "toolCallId": call_id, "toolName": name, "isError": is_error}
    return {**line, "result": result(words, **details)}


def agent_end(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "agent_end", "messages": list(messages), **more}


def entry(
    entry_id: str, parent: str | None, message: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Return an entry of a session file: a message, or another entry."""
    head = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": "2026-11-20T21:07:00.000Z"}
    return {**head, **({} if message is None else {"message": message}), **more}
