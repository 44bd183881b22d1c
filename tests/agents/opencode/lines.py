"""Minimal lines of `opencode run --format json`, and of stored sessions."""

from typing import Any

from tests.builders.lines import line

SESSION = "ses_1"


def streamed(kind: str, **fields: Any) -> bytes:
    return line({"type": kind, "timestamp": 1000, "sessionID": SESSION, **fields})


def part_line(kind: str, part_type: str, **part: Any) -> bytes:
    return streamed(kind, part={"id": "prt_1", "messageID": "msg_1", "type": part_type, **part})


def begun() -> bytes:
    """Return the line that begins a step."""
    return part_line("step_start", "step-start")


def finished(reason: Any = "stop", **part: Any) -> bytes:
    """Return the line that ends a step."""
    return part_line("step_finish", "step-finish", reason=reason, **part)


def said(text: Any, part_id: str = "prt_1", **part: Any) -> bytes:
    time = {"time": {"start": 10, "end": 20}}
    return part_line("text", "text", **({"text": text} | time | part | {"id": part_id}))


def used(tool: Any, status: Any = "completed", call_id: Any = "call_1", **state: Any) -> bytes:
    """Return the line of a call that has ended."""
    whole = {"status": status, "input": {}, "time": {"start": 10, "end": 30}} | state
    return part_line("tool_use", "tool", tool=tool, callID=call_id, state=whole)


def stored(part_type: str, role: str = "assistant", agent: str | None = None, **part: Any) -> bytes:
    return line(
        {
            "type": "part",
            "timestamp": 1000,
            "sessionID": SESSION if agent is None else "ses_child",
            "message": {"id": part.pop("message_id", "msg_1"), "role": role, **part.pop("message", {})},
            "part": {"id": "prt_1", "messageID": "msg_1", "type": part_type, **part},
            "agent": agent,
        }
    )


def message(role: str = "assistant", agent: str | None = None, **info: Any) -> bytes:
    ids = {"timestamp": 1000, "sessionID": SESSION, "agent": agent}
    return line({"type": "message", "info": {"id": "msg_1", "role": role, **info}} | ids)


def session_line(**info: Any) -> bytes:
    return line({"type": "session", "timestamp": 1000, "sessionID": SESSION, "info": info})


def stored_call(status: Any, call_id: str = "call_1", agent: str | None = None, **state: Any) -> bytes:
    """Return the line of a stored call of `bash`."""
    whole = {"status": status, "input": {"command": "make"}, "time": {"start": 10}} | state
    return stored("tool", agent=agent, id=f"prt_{call_id}", tool="bash", callID=call_id, state=whole)
