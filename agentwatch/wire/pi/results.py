"""Reads the outcome of a Pi tool call from its result."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.text.amounts import plural
from agentwatch.wire.changes.file_change import line_count
from agentwatch.wire.fields import Fields, items, mapping, number
from agentwatch.wire.pi.diffs import changed_lines
from agentwatch.wire.pi.messages import content_text
from agentwatch.wire.tool import NO_FACTS, Facts, Tool

_EXITED = "Command exited with code "
_INTERRUPTED = ("Command aborted", "Operation aborted", "Skipped due to queued user message.")
_REFUSED = ("Tool execution was blocked", "Tool execution was blocked by an extension")
"""What Pi itself writes as the last line, or as the whole text, of a result."""
_MOST_DIGITS = 4


class Result(NamedTuple):
    """The outcome of a call."""

    outcome: Outcome
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS


def read_result(tool: Tool, result: Fields, is_error: object) -> Result:
    """Read a result.

    From Pi 0.99 on, the stream has the exit code of a command in `structuredContent`; agents that are built
    on Pi, as OpenClaw, have it in `details`. Elsewhere a command that failed has it only in Pi's own last
    line, and a command that succeeded has no exit code.

    Args:
        tool: The tool of the call.
        result: The fields `content`, `details` and `structuredContent`.
        is_error: The field `isError`.
    """
    code = _exit_code(tool, result)
    if is_error is False and not code:
        return Result(Outcome.SUCCEEDED, exit_code=code, facts=_facts(tool, result))
    words = content_text(result.get("content"))
    if is_error is not True and not code:
        return Result(Outcome.RETURNED, "came back without an outcome", facts=_facts(tool, result))
    last = words.rstrip().rpartition("\n")[2]
    if last in _INTERRUPTED:
        return Result(Outcome.CANCELLED, last)
    if words in _REFUSED:
        return Result(Outcome.REJECTED, words)
    if code is not None:
        return Result(Outcome.FAILED, f"exit {code}" if code else last or "the tool failed", code)
    if tool.kind is ToolKind.EXECUTE and last.startswith(_EXITED):
        digits = last.removeprefix(_EXITED)
        if digits.removeprefix("-").isdecimal() and len(digits) <= _MOST_DIGITS:
            return Result(Outcome.FAILED, f"exit {int(digits)}", int(digits))
    if tool.kind is ToolKind.EXECUTE and last.startswith("Command timed out"):
        return Result(Outcome.FAILED, last)
    return Result(Outcome.FAILED, words or "the tool failed")


def _exit_code(tool: Tool, result: Fields) -> int | None:
    """Return the exit code of a command; None if the result has no field for it."""
    if tool.kind is not ToolKind.EXECUTE:
        return None
    code = number(mapping(result.get("structuredContent")), "exit_code")
    return number(mapping(result.get("details")), "exitCode") if code is None else code


def _facts(tool: Tool, result: Fields) -> Facts:
    if tool.kind is ToolKind.EDIT:
        added, removed = changed_lines(mapping(result.get("details")))
        return Facts(lines_added=added, lines_removed=removed)
    if tool.kind is not ToolKind.READ:
        return NO_FACTS
    if images := [part for part in map(mapping, items(result.get("content"))) if part.get("type") == "image"]:
        return Facts(note=plural(len(images), "image"))
    words = content_text(result.get("content"))
    has_remark = words.endswith("]") and "\n\n[" in words  # how many lines were left out
    return NO_FACTS if has_remark or not words else Facts(note=plural(line_count(words), "line"))
