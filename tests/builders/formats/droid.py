"""Lines of Droid's stream, as others have published them."""

from typing import Any

AT = 1762517060816
INIT = {
    "type": "system",
    "subtype": "init",
    "cwd": "/repo",
    "session_id": "abc-123",
    "tools": ["Read", "Execute"],
    "model": "claude-sonnet-4-6",
    "reasoning_effort": "high",
}
USAGE = {
    "input_tokens": 10,
    "output_tokens": 3,
    "cache_read_input_tokens": 4,
    "cache_creation_input_tokens": 2,
}


def line(kind: str, key: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": key, "timestamp": AT, "session_id": "abc-123"} | fields


def said(role: str, text: str, key: str = "m-1") -> dict[str, Any]:
    return line("message", key, role=role, text=text)


def use(name: str, key: str = "c-1", **parameters: Any) -> dict[str, Any]:
    """Return the start of a call."""
    return line("tool_call", key, messageId="m", toolId=name, toolName=name, parameters=parameters)


def ended(
    value: Any = "ok", key: str = "c-1", *, is_error: Any = False, name: str = "Read"
) -> dict[str, Any]:
    return line("tool_result", key, messageId="m", toolId=name, isError=is_error, value=value)


def completion(text: str | None = "Done.", **fields: Any) -> dict[str, Any]:
    """Return the end of a turn."""
    own = {"finalText": text, "numTurns": 1, "durationMs": 3000, "usage": USAGE}
    return {"type": "completion", "session_id": "abc-123"} | own | fields


ERRED = "Error: tool execution cancelled"
ERROR = line("error", "e-1", source="agent_loop", message="No credit")
THOUGHT = line("reasoning", "r-1", text="Hm.")
LINES = [
    *(INIT, said("user", "Run ls."), THOUGHT, THOUGHT, said("assistant", "I'll run it.", "m-2")),
    *(use("Execute", command="ls -la"), use("TodoWrite", "c-2", todos="1. [pending] A\n2. [completed] B\nx")),
    *(ended("total 16\n", name="Execute"), ended("No.", "c-2", is_error=True), ERROR),
    *(said("assistant", "Done.", "m-3"), completion()),
]
