"""Reads the outcome of a Copilot tool call from the line that ends it."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.text.amounts import plural
from agentwatch.wire.changes.file_change import line_count
from agentwatch.wire.changes.unified import changed_lines
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import NO_FACTS, Facts, Phrase, Tool

_REFUSED_CODES = frozenset({"denied", "rejected"})
_INTERRUPTED_CODES = frozenset({"cancelled", "canceled", "aborted", "interrupted"})
_IN_BACKGROUND = (
    *("<command started in background with ", "<command started in detached background with "),
    *("<command with ", "Agent started in background with "),
)
_STILL_RUNS = " is still running after "
_EXIT = " with exit code "
"""Copilot's own last line of a result: `<shellId: 0 completed with exit code 3>`; before 1.0.60,
`<exited with exit code 3>`."""
_MOST_DIGITS = 11
_EXIT_BLOCKS = ("shell_exit", "terminal")


class Result(NamedTuple):
    """The outcome of a call."""

    outcome: Outcome
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS


def read_result(tool: Tool, data: Fields, answer: str | None, *, is_whole: bool = True) -> Result:
    """Read the result of a call.

    `success` is true for a command that exited with another code than 0, and for one that continues in the
    background.

    Args:
        tool: The tool of the call.
        data: The field `data` of the line.
        answer: The answer to the question whether the call may run; None without one.
        is_whole: Whether all of the line was read. If not, the exit code of a command may be missing.
    """
    result = mapping(data.get("result"))
    content = text(result, "content") or text(data, "result") or ""
    error = mapping(data.get("error"))
    message, reason = text(error, "message") or text(data, "error"), text(error, "code")
    code = _exit_code(tool, data, result, content)
    if (answer or "").startswith("denied") or reason in _REFUSED_CODES:
        return Result(Outcome.REJECTED, message or answer, code)
    if answer == "cancelled" or reason in _INTERRUPTED_CODES:
        return Result(Outcome.CANCELLED, message or answer, code)
    if code:
        return Result(Outcome.FAILED, f"exit {code}", code)
    success = data.get("success")
    if success is False:
        return Result(Outcome.FAILED, message or content or "the tool failed", code)
    if _is_in_background(tool, content):
        return Result(Outcome.RETURNED, facts=Facts(note="in the background"))
    if success is True and code is None and tool.kind is ToolKind.EXECUTE and not is_whole:
        return Result(Outcome.RETURNED, "its line is too large to be read")
    if success is not True:
        return Result(Outcome.RETURNED, "came back without an outcome", code)
    return Result(Outcome.SUCCEEDED, None, code, _facts(tool, data, result, content))


def _exit_code(tool: Tool, data: Fields, result: Fields, content: str) -> int | None:
    """Return the exit code: its own field, that of a block of the content, or that in Copilot's last line."""
    code = number(mapping(data.get("shellExecution")), "exitCode")
    blocks = (mapping(block) for block in items(result.get("contents")))
    codes = (number(block, "exitCode") for block in blocks if block.get("type") in _EXIT_BLOCKS)
    code = next((each for each in codes if each is not None), None) if code is None else code
    if code is not None or tool.kind is not ToolKind.EXECUTE:
        return code
    last = content.rstrip().rpartition("\n")[2]
    if not (last.startswith("<") and last.endswith(">")):
        return None
    digits = last[:-1].rpartition(_EXIT)[2]
    is_code = digits.removeprefix("-").isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_code else None


def _is_in_background(tool: Tool, content: str) -> bool:
    if tool.kind not in (ToolKind.EXECUTE, ToolKind.DELEGATE):
        return False
    last = content.rstrip().rpartition("\n")[2]
    is_shell = last.startswith("<command with ")
    return last.startswith(_IN_BACKGROUND) and (not is_shell or _STILL_RUNS in last)


def is_diff(text: str) -> bool:
    """Return whether the detailed content of a result is a unified diff. That of a file's view is one too."""
    return "\n@@ -" in text


def _facts(tool: Tool, data: Fields, result: Fields, content: str) -> Facts:
    detailed = text(result, "detailedContent") or ""
    if tool.kind is ToolKind.READ and is_diff(detailed):
        return Facts(note=plural(line_count(content), "line"))
    if tool.kind is not ToolKind.EDIT:
        return NO_FACTS
    added, removed = changed_lines(detailed) if is_diff(detailed) else (None, None)
    edits = [mapping(edit) for edit in items(data.get("fileEdits"))]
    is_new = bool(edits) and all(edit.get("kind") == "create" for edit in edits)
    return Facts(
        phrase=Phrase.CREATED if is_new else None,
        is_new_file=is_new,
        lines_added=added,
        lines_removed=removed,
    )
