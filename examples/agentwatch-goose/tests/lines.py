"""Lines of Goose's stream."""

from __future__ import annotations

from typing import Any

from agentwatch_goose.agent import AGENT

from agentwatch.session.session import Session
from tests.builders.agents.decoded import session_of

MODEL = {"userVisible": True, "inference": {"provider": "p", "requestedModel": "claude"}}
COMPLETE = {
    "type": "complete",
    "total_tokens": 1290,
    "input_tokens": 1234,
    "output_tokens": 56,
    "cache_read_input_tokens": 1000,
    "cost_usd": 0.25,
}
ERROR = {"type": "error", "error": "No credit"}


def message(role: str, *content: Any, **fields: Any) -> dict[str, Any]:
    """Return a message."""
    own = {"id": "m", "role": role, "created": 1772355601, "content": list(content)}
    return {"type": "message", "message": own | fields}


def words(text: str) -> dict[str, Any]:
    """Return a part of text."""
    return {"type": "text", "text": text}


def use(name: str, key: str = "c-1", **arguments: Any) -> dict[str, Any]:
    """Return the request of a call."""
    value = {"name": name, "arguments": arguments}
    return {"type": "toolRequest", "id": key, "toolCall": {"status": "success", "value": value}}


def ended(key: str = "c-1", *, is_error: Any = False, text: str = "ok", **result: Any) -> dict[str, Any]:
    """Return the response of a call."""
    value = {"content": [words(text)], "isError": is_error}
    return {"type": "toolResponse", "id": key, "toolResult": {"status": "success", "value": value} | result}


LINES = [
    message("user", words("Run the tests.")),
    message("assistant", {"type": "thinking", "thinking": "Hm.", "signature": ""}, metadata=MODEL),
    message("assistant", words("I'll "), metadata=MODEL),
    message("assistant", words("do it."), use("developer__shell", command="pytest -q"), metadata=MODEL),
    {"type": "notification", "extension_id": "developer", "log": {"message": "running"}},
    message("assistant", use("developer__text_editor", "c-2", command="view", path="a")),
    message("user", ended(text="3 passed")),
    message("user", ended("c-2", is_error=True, text="No file.")),
    message("assistant", words("Done.")),
    COMPLETE,
]


def whole(*lines: dict[str, Any], is_over: bool = True) -> Session:
    """Return the session of these lines after a prompt."""
    return session_of(AGENT, LINES[0], *lines, *([COMPLETE] if is_over else []))
