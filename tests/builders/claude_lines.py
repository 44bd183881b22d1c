"""Lines of Claude Code's `stream-json`, as objects and as bytes."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.registry import agent_named

Json = dict[str, Any]
CWD = "/home/ada/tidepool"


def line(kind: str, subtype: str | None = None, **fields: Any) -> Json:
    """Return a line of a session."""
    named = {"type": kind} if subtype is None else {"type": kind, "subtype": subtype}
    return {**named, "session_id": "s-1", "uuid": "u-1", **fields}


def init(**fields: Any) -> Json:
    """Return an init line."""
    facts = {"cwd": CWD, "model": "claude-sonnet-5", "tools": ["Bash"], "claude_code_version": "2.1.330"}
    return line("system", "init", **{**facts, **fields})


def assistant(*blocks: Json, **fields: Any) -> Json:
    """Return a line with blocks of a message of the agent."""
    message = {"id": fields.pop("message_id", "msg_1"), "role": "assistant", "content": [*blocks]}
    if "model" in fields:
        message["model"] = fields.pop("model")
    if "usage" in fields:
        message["usage"] = fields.pop("usage")
    return line("assistant", message=message, **{"parent_tool_use_id": None, **fields})


def say(words: str, **fields: Any) -> Json:
    """Return a line with a text of the agent."""
    return assistant({"type": "text", "text": words}, **fields)


def call(name: str, call_id: str = "t-1", /, **arguments: Any) -> Json:
    """Return the line that starts a call of the main agent."""
    return assistant({"type": "tool_use", "id": call_id, "name": name, "input": arguments})


def answer(content: Any, call_id: str = "t-1", *, is_error: bool | None = None, **fields: Any) -> Json:
    """Return the line that ends a call; `result` is its structured result."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if is_error is not None:
        block["is_error"] = is_error
    if "result" in fields:
        fields["tool_use_result"] = fields.pop("result")
    message = {"role": "user", "content": [block]}
    return line("user", message=message, **{"parent_tool_use_id": None, **fields})


def user(words: str, **fields: Any) -> Json:
    """Return a line with a text of the user."""
    return line("user", message={"role": "user", "content": words}, **{"parent_tool_use_id": None, **fields})


def delta(words: str, kind: str = "text", **fields: Any) -> Json:
    """Return a delta of a block."""
    body = {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: words}}
    return line("stream_event", event=body, **{"parent_tool_use_id": None, **fields})


def result(words: str = "", subtype: str = "success", **fields: Any) -> Json:
    """Return a result line."""
    return line("result", subtype, **{"is_error": False, "result": words, "num_turns": 1, **fields})


def written(*lines: Json) -> bytes:
    """Return lines as bytes."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


def events(*lines: Json, agent: str = "claude-code") -> list[Any]:
    """Return the events of lines that an agent wrote."""
    decoder = Decoder(agent_named(agent))
    return [event for each in lines for event in decoder.decode(written(each))]
