"""Lines of a session for the screen's tests: texts and calls with the same clock, project and model."""

from __future__ import annotations

import json
from pathlib import Path

SESSION = "5e55104e-0000-4000-8000-000000000000"
CWD = "/home/ada/src/mill"


def line(**fields: object) -> bytes:
    """Return an event of the stream."""
    return json.dumps({"session_id": SESSION, **fields}).encode() + b"\n"


def init(**fields: object) -> bytes:
    """Return the first line of a run."""
    known = {"cwd": CWD, "model": "Sonnet 5", "permissionMode": "default", "apiKeySource": "login"}
    return line(type="system", subtype="init", **known | fields)


def prompt(text: str) -> bytes:
    """Return the user's message."""
    return line(type="user", message={"role": "user", "content": [{"type": "text", "text": text}]})


def answer(text: str) -> bytes:
    """Return new text of the assistant's."""
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return line(type="assistant", message=message, timestamp_ms=1_793_610_000_000)


def thinking(text: str) -> bytes:
    """Return a whole thought that took 2.5 s."""
    begun = line(type="thinking", subtype="delta", text=text, timestamp_ms=1_793_610_000_000)
    return begun + line(type="thinking", subtype="completed", timestamp_ms=1_793_610_002_500)


def started(call_id: str, tool: str, args: dict[str, object], at_ms: int = 1_793_610_000_000) -> bytes:
    """Return the start of a call."""
    call = {f"{tool}ToolCall": {"args": args}}
    return line(type="tool_call", subtype="started", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def ended(
    call_id: str, tool: str, args: dict[str, object], result: object, at_ms: int = 1_793_610_001_500
) -> bytes:
    """Return the end of a call."""
    call = {f"{tool}ToolCall": {"args": args, "result": result}}
    return line(type="tool_call", subtype="completed", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def shell(number: int, exit_code: int | None = 0, stdout: str = "") -> bytes:
    """Return a shell call, `echo NUMBER`, from start to end; None leaves it running."""
    call_id, args = f"call-{number}", {"command": f"echo {number}"}
    begun = started(call_id, "shell", dict(args))
    if exit_code is None:
        return begun
    return begun + ended(call_id, "shell", dict(args), {"success": {"exitCode": exit_code, "stdout": stdout}})


def result(text: str = "", **fields: object) -> bytes:
    """Return the last line of a run."""
    told = {"subtype": "success", "is_error": False, "duration_ms": 5234, "result": text}
    return line(type="result", **told | fields)


def session(calls: int = 40, *failed: int) -> bytes:
    """Return a session with a prompt, a thought, and so many calls with a text before each."""
    made = [init(), prompt("Mend it."), thinking("A thought.")]
    for number in range(calls):
        made += [answer(f"Step {number}."), shell(number, 1 if number in failed else 0, f"out {number}")]
    return b"".join(made)


def append(path: Path, data: bytes) -> None:
    """Let a recording grow."""
    with path.open("ab") as file:
        file.write(data)
