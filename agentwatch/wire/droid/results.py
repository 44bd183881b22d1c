"""Reads the outcome of a Droid tool call from the line that ends it."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.wire.fields import Fields, mapping, text

_EXITED = "[Process exited with code "
"""How Droid begins the last line of a command's output: `[Process exited with code 0]`."""
_CANCELLED = "tool execution cancelled"
_MOST_DIGITS = 11


class Result(NamedTuple):
    """The outcome of a call."""

    outcome: Outcome
    error: str | None = None
    exit_code: int | None = None


def read_result(kind: ToolKind, fields: Fields) -> Result:
    """Read the line that ends a call.

    Args:
        kind: The kind of the tool. Only a command has an exit code.
        fields: The line. It has a `value`, or an `error` with a message.
    """
    reason = reason_in(fields)
    code = _exit_code(text(fields, "value") or "") if kind is ToolKind.EXECUTE else None
    is_error = fields.get("isError")
    if is_error is True and _CANCELLED in (reason or "")[:100]:
        return Result(Outcome.CANCELLED, reason)
    if code:
        return Result(Outcome.FAILED, f"exit {code}", code)
    if is_error is True:
        return Result(Outcome.FAILED, reason, code)
    if is_error is False:
        return Result(Outcome.SUCCEEDED, None, code)
    return Result(Outcome.RETURNED, "came back without a status", code)


def reason_in(fields: Fields) -> str | None:
    """Return why a call failed; None if the line does not say it."""
    error = fields.get("error")
    return text(fields, "value") or text(mapping(error), "message") or text(fields, "error")


def _exit_code(output: str) -> int | None:
    last = output.rstrip().rpartition("\n")[2]
    if not (last.startswith(_EXITED) and last.endswith("]")):
        return None
    digits = last.removeprefix(_EXITED)[:-1]
    is_code = digits.isascii() and digits.removeprefix("-").isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_code else None
