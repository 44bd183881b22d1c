"""Lines of a session for the screen's tests: one clock, one project, one model."""

from pathlib import Path
from typing import Any

from tests.builders import lines

CWD = "/home/ada/src/mill"
BEGAN_MS = 1_793_610_000_000

prompt = lines.user
result = lines.result


def init(**fields: Any) -> bytes:
    """Return the first line of a run."""
    return lines.init(**({"cwd": CWD, "model": "Sonnet 5"} | fields))


def answer(text: str) -> bytes:
    """Return the line of an assistant message, one piece of text."""
    return lines.message("assistant", text, timestamp_ms=BEGAN_MS)


def thinking(text: str) -> bytes:
    """Return the two lines of a completed thought that took 2.5 s."""
    return lines.thought(text, BEGAN_MS) + lines.thought_through(BEGAN_MS + 2500)


def started(call_id: str, tool: str, args: dict[str, object], at_ms: int = BEGAN_MS) -> bytes:
    return lines.started(tool, call_id, at_ms, **args)


def ended(
    call_id: str, tool: str, args: dict[str, object], result: object, at_ms: int = BEGAN_MS + 1500
) -> bytes:
    return lines.completed(tool, call_id, result, at_ms, **args)


def shell(number: int, exit_code: int | None = 0, stdout: str = "") -> bytes:
    """Return a shell call `echo NUMBER`, start and end; with `exit_code=None` it is still running."""
    call_id, args = f"call-{number}", {"command": f"echo {number}"}
    begun = started(call_id, "shell", dict(args))
    if exit_code is None:
        return begun
    return begun + ended(call_id, "shell", dict(args), {"success": {"exitCode": exit_code, "stdout": stdout}})


def session(calls: int = 40, *failed: int) -> bytes:
    """Return a session: a prompt, a thought, and `calls` shell calls with a text before each.

    The calls numbered in `failed` exit with 1. The session has no result yet.
    """
    made = [init(), prompt("Mend it."), thinking("A thought.")]
    for number in range(calls):
        made += [answer(f"Step {number}."), shell(number, 1 if number in failed else 0, f"out {number}")]
    return b"".join(made)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)
