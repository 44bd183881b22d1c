"""Lines of Gemini's stream."""

from typing import Any

from agentwatch.agents.gemini.agent import AGENT
from agentwatch.session.session import Session
from tests.builders.agents.decoded import session_of

AT = "2026-11-20T20:56:10.529Z"
AT_MS = 1795208170529
INIT = {"type": "init", "timestamp": AT, "session_id": "s-1", "model": "gemini-2.5-flash"}
USER = {"type": "message", "timestamp": AT, "role": "user", "content": "Do it."}
STATS = {
    "total_tokens": 30197,
    "input_tokens": 29923,
    "output_tokens": 224,
    "cached": 21000,
    "duration_ms": 671,
    "models": {"gemini-2.5-flash": {"total_tokens": 30197}},
}
DONE = {"type": "result", "timestamp": AT, "status": "success", "stats": STATS}


def delta(text: str, **fields: Any) -> dict[str, Any]:
    """Return a piece of the answer."""
    return {"type": "message", "timestamp": AT, "role": "assistant", "content": text, "delta": True} | fields


def use(name: str, call_id: str = "c-1", **parameters: Any) -> dict[str, Any]:
    """Return the start of a call."""
    own = {"tool_name": name, "tool_id": call_id, "parameters": parameters}
    return {"type": "tool_use", "timestamp": AT} | own


def ended(call_id: str = "c-1", status: Any = "success", **fields: Any) -> dict[str, Any]:
    """Return the end of a call; no status if it is None."""
    own = {"type": "tool_result", "timestamp": AT, "tool_id": call_id, "status": status} | fields
    return {key: value for key, value in own.items() if value is not None}


def failure(kind: str, message: str = "No.") -> dict[str, Any]:
    """Return the fields of a call that failed."""
    return {"status": "error", "error": {"type": kind, "message": message}}


def notice(message: str, severity: str | None = "error") -> dict[str, Any]:
    return {"type": "error", "timestamp": AT, "severity": severity, "message": message}


def one(*lines: dict[str, Any]) -> Any:
    """Return the only call of these lines."""
    [call] = session_of(AGENT, INIT, *lines).calls
    return call


def whole(*lines: dict[str, Any]) -> Session:
    """Return the session of these lines after an init and a prompt."""
    return session_of(AGENT, INIT, USER, *lines)


LINES = [
    *(INIT, USER, delta("A"), use("replace", "a", file_path="a.py", old_string="x", new_string="y")),
    *(use("write_todos", "b", todos=[{"description": "d", "status": "pending"}]), ended("a", output="ok")),
    *(ended("b", **failure("file_not_found")), notice("careful", "warning"), delta("B"), DONE),
]
