"""Lines of Codex's stream and of its rollouts, and of threads that were forked."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from agentwatch.agents.registry import agent_named
from agentwatch.session.blocks import Block
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.lines import session

Json = dict[str, Any]
THREAD: Json = {"type": "thread.started", "thread_id": "t-1"}
TURN: Json = {"type": "turn.started"}
META: Json = {"type": "session_meta", "payload": {"id": "t-1", "cwd": "/home/ada/app"}}


def read(*lines: Json) -> Session:
    return session(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def begun(kind: str, item_id: str = "item_1", **fields: Any) -> Json:
    """Return the line of the stream that starts an item."""
    return {"type": "item.started", "item": {"id": item_id, "type": kind} | fields}


def done(kind: str, item_id: str = "item_1", **fields: Any) -> Json:
    return {"type": "item.completed", "item": {"id": item_id, "type": kind} | fields}


def error(message: str) -> Json:
    return {"type": "error", "message": message}


def item(kind: str, **fields: Any) -> Json:
    """Return a model's item in a rollout."""
    return {"type": "response_item", "payload": {"type": kind} | fields}


def event(kind: str, **fields: Any) -> Json:
    return {"type": "event_msg", "payload": {"type": kind} | fields}


def completed(kind: str, item_id: str = "c-1", /, **fields: Any) -> Json:
    """Return a completed item of a paginated history."""
    return event("item_completed", item={"type": kind, "id": item_id} | fields)


def function(name: str, arguments: Any = None, call_id: str = "c-1", **fields: Any) -> Json:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return item("function_call", name=name, arguments=given, call_id=call_id, **fields)


def output(value: Any, call_id: str = "c-1") -> Json:
    """Return the output of a function call in a rollout."""
    return item("function_call_output", call_id=call_id, output=value)


def message(role: str, *texts: str, **fields: Any) -> Json:
    content = [{"type": "input_text", "text": text} for text in texts]
    return item("message", role=role, content=content, **fields)


def notes(found: Session) -> list[str]:
    """Return the notices of a session."""
    return [entry.text for entry in found.transcript if entry.kind is Kind.NOTICE]


def only_call(*lines: Json) -> Call:
    (call,) = read(*lines).calls
    return call


def blocks(line: Json) -> list[Block]:
    agent = agent_named("codex-rollout" if "payload" in line else "codex")
    assert agent is not None
    return list(agent.blocks(line, "c-1"))


BEGAN_MS = 1795514400000
MINUTE_MS = 60_000


def name_at(at_ms: int, number: int) -> str:
    """Return an id of version 7, which contains its time."""
    digits = f"{at_ms:012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-{number:012x}"


def file_name(at_ms: int, *names: str) -> str:
    """Return the name of a rollout: of a thread, or of a thread and a later rollout."""
    return f"rollout-{_iso(at_ms)[:19].replace(':', '-')}-{'_'.join(names)}.jsonl"


def meta(thread: str, at_ms: int, **more: Any) -> Json:
    """Return the first line of a rollout."""
    payload = {"session_id": thread, "id": thread, "timestamp": _iso(at_ms), "cwd": "/w", **more}
    return {"timestamp": _iso(at_ms + 30), "type": "session_meta", "payload": payload}


def turn(
    thread: str,
    at_ms: int,
    number: int,
    total: int,
    last: int,
    *,
    is_paginated: bool = True,
    has_id: bool = True,
) -> list[Json]:
    """Return the lines of a turn with one call and one request.

    `total` has the input tokens of the thread so far, with those that it has inherited. Only the oldest
    versions write no id of the turn.
    """
    of_turn = {"turn_id": name_at(at_ms, number)} if has_id else {}
    prompt: Json = {"type": "user_message", "message": f"prompt {number}"}
    usage: list[tuple[str, Json]] = []
    if is_paginated:
        content = [{"type": "text", "text": f"prompt {number}"}]
        item = {"type": "UserMessage", "id": f"u-{number}", "content": content}
        prompt = {"type": "item_completed", **of_turn, "item": item}
        record = {"thread_id": thread, **of_turn, "usage": _usage(last), "thread_token_usage": _usage(total)}
        usage = [("token_usage_record", record)]
    info = {"total_token_usage": _usage(total), "last_token_usage": _usage(last)}
    call = {"name": "exec_command", "arguments": '{"cmd":"ls"}', "call_id": f"call-{number}"}
    output = {"call_id": f"call-{number}", "output": "Process exited with code 0\nOutput:\na"}
    lines: list[tuple[str, Json]] = [
        ("event_msg", {"type": "task_started", **of_turn}),
        ("turn_context", {**of_turn, "cwd": "/w", "model": "m"}),
        ("event_msg", prompt),
        ("response_item", {"type": "function_call", **call}),
        ("response_item", {"type": "function_call_output", **output}),
        *usage,
        ("event_msg", {"type": "token_count", "info": info}),
        ("event_msg", {"type": "task_complete", **of_turn, "last_agent_message": "ok"}),
    ]
    return [
        {"timestamp": _iso(at_ms + after), "type": kind, "payload": payload}
        for after, (kind, payload) in enumerate(lines, 5)
    ]


def copied(lines: Sequence[Json], at_ms: int) -> list[Json]:
    """Return lines as a fork before version 0.154 copies them: with the time of the copy."""
    return [line | {"timestamp": _iso(at_ms + 31)} for line in lines]


def written(lines: Sequence[Json]) -> bytes:
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _usage(tokens: int) -> Json:
    return {"input_tokens": tokens, "cached_input_tokens": tokens // 2, "output_tokens": tokens // 10}


def _iso(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
