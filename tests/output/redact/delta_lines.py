"""The deltas of all agents."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

Row = dict[str, Any]


class Form(NamedTuple):
    """How an agent writes deltas."""

    row: Callable[[str, int, int], Row]
    """Returns a delta: of its text, its block and its number."""
    path: tuple[str | int, ...]
    """Where the text is."""

    def line(self, text: str, block: int, number: int) -> bytes:
        return json.dumps(self.row(text, block, number), ensure_ascii=number % 2 == 0).encode() + b"\n"

    def text(self, line: bytes) -> str:
        value: Any = json.loads(line)
        for step in self.path:
            value = value[step]
        return str(value)


def _uuid(number: int) -> str:
    return f"0b9f1c2d-3e4f-4a5b-8c6d-{number:012x}"


def _event(delta: Row, index: int, number: int, **fields: Any) -> Row:
    event = {"type": "content_block_delta", "index": index, "delta": delta}
    return {
        "type": "stream_event",
        "event": event,
        "session_id": _uuid(1),
        "uuid": _uuid(number + 9),
    } | fields


def _claude(text: str, block: int, number: int) -> Row:
    return _event({"type": "text_delta", "text": text}, block, number)


def _thinking(text: str, block: int, number: int) -> Row:
    return _event({"type": "thinking_delta", "thinking": text}, block, number)


def _arguments(text: str, block: int, number: int) -> Row:
    return _event({"type": "input_json_delta", "partial_json": text}, block, number)


def _subagent(text: str, block: int, number: int) -> Row:
    return _event({"type": "text_delta", "text": text}, 0, number, parent_tool_use_id=f"toolu_{block}")


def _cursor(text: str, block: int, number: int) -> Row:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    fields = {"session_id": f"s-{block}", "timestamp_ms": 1793610847107 + number}
    return {"type": "assistant", "message": message} | fields


def _cursor_thinking(text: str, block: int, number: int) -> Row:
    fields = {"session_id": f"s-{block}", "timestamp_ms": 1793610847107 + number}
    return {"type": "thinking", "subtype": "delta", "text": text} | fields


def _gemini(text: str, block: int, number: int) -> Row:
    fields = {"timestamp": f"2026-11-21T23:08:{number % 60:02}.123Z", "role": f"role-{block}"}
    return {"type": "message", "content": text, "delta": True} | fields


def _acp(text: str, block: int, _number: int) -> Row:
    kind = "agent_message_chunk" if block == 0 else "agent_thought_chunk"
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}


def _copilot(text: str, block: int, number: int) -> Row:
    fields = {"id": _uuid(number + 1), "parentId": _uuid(number), "timestamp": "2026-11-21T23:08:11.123Z"}
    return {
        "type": "assistant.message_delta",
        "data": {"messageId": f"m{block}", "deltaContent": text},
    } | fields


def _copilot_output(text: str, block: int, _number: int) -> Row:
    data = {"toolCallId": f"c{block}", "partialOutput": text}
    return {"type": "tool.execution_partial_result", "data": data}


def _pi(text: str, block: int, _number: int) -> Row:
    event = {"type": "text_delta", "contentIndex": block, "delta": text}
    return {"type": "message_update", "assistantMessageEvent": event}


_CONTENT = ("content", 0, "text")
FORMS = {
    "claude": Form(_claude, ("event", "delta", "text")),
    "claude thinking": Form(_thinking, ("event", "delta", "thinking")),
    "claude arguments": Form(_arguments, ("event", "delta", "partial_json")),
    "claude subagents": Form(_subagent, ("event", "delta", "text")),
    "cursor": Form(_cursor, ("message", *_CONTENT)),
    "cursor thinking": Form(_cursor_thinking, ("text",)),
    "gemini": Form(_gemini, ("content",)),
    "acp": Form(_acp, ("params", "update", "content", "text")),
    "copilot": Form(_copilot, ("data", "deltaContent")),
    "copilot output": Form(_copilot_output, ("data", "partialOutput")),
    "pi": Form(_pi, ("assistantMessageEvent", "delta")),
}
