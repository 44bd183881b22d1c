"""Minimal lines of Codex's stream and of its rollouts, as objects."""

from __future__ import annotations

import json
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
    """Return the session of these lines."""
    return session(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def begun(kind: str, item_id: str = "item_1", **fields: Any) -> Json:
    """Return the line of the stream that starts an item."""
    return {"type": "item.started", "item": {"id": item_id, "type": kind} | fields}


def done(kind: str, item_id: str = "item_1", **fields: Any) -> Json:
    """Return the line of the stream that completes an item."""
    return {"type": "item.completed", "item": {"id": item_id, "type": kind} | fields}


def error(message: str) -> Json:
    """Return an error line of the stream."""
    return {"type": "error", "message": message}


def item(kind: str, **fields: Any) -> Json:
    """Return a model's item in a rollout."""
    return {"type": "response_item", "payload": {"type": kind} | fields}


def event(kind: str, **fields: Any) -> Json:
    """Return an event in a rollout."""
    return {"type": "event_msg", "payload": {"type": kind} | fields}


def completed(kind: str, item_id: str = "c-1", /, **fields: Any) -> Json:
    """Return a completed item of a paginated history."""
    return event("item_completed", item={"type": kind, "id": item_id} | fields)


def function(name: str, arguments: Any = None, call_id: str = "c-1", **fields: Any) -> Json:
    """Return a function call in a rollout."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return item("function_call", name=name, arguments=given, call_id=call_id, **fields)


def output(value: Any, call_id: str = "c-1") -> Json:
    """Return the output of a function call in a rollout."""
    return item("function_call_output", call_id=call_id, output=value)


def message(role: str, *texts: str, **fields: Any) -> Json:
    """Return a message in a rollout."""
    content = [{"type": "input_text", "text": text} for text in texts]
    return item("message", role=role, content=content, **fields)


def notes(found: Session) -> list[str]:
    """Return the notices of a session."""
    return [entry.text for entry in found.transcript if entry.kind is Kind.NOTICE]


def only_call(*lines: Json) -> Call:
    """Return the only call of a session."""
    (call,) = read(*lines).calls
    return call


def blocks(line: Json) -> list[Block]:
    """Return the blocks of a line."""
    agent = agent_named("codex-rollout" if "payload" in line else "codex")
    assert agent is not None
    return list(agent.blocks(line, "c-1"))
