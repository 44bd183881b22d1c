"""Reads the outcome of a call from its `tool_result` block and the structured result beside it.

A result says that it failed with `is_error`, and why in its text. Whether a person or a rule refused the call
is only in that text, and in lines of their own (`permission_denied`, and `permission_denials` of a result).
The texts are those of captures of Claude Code 1.0 to 2.1, Qwen Code 0.15 and Amp.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import NO_FACTS, Facts, Tool

IN_BACKGROUND = "in the background"
_READ_CHARACTERS = 1000
"""The beginning of a result's text in which the reason of a failure is searched."""
_MOST_ERROR = 10_000
"""In characters. The session keeps fewer."""
_MOST_DIGITS = 10
EXIT = "Exit code "
_TAG, _END_TAG = "<tool_use_error>", "</tool_use_error>"
_BARE_REFUSAL = "The user doesn't want to proceed with this tool use"
_FEEDBACK = "the user said"
_REFUSALS = (
    _BARE_REFUSAL,
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this ",
    "PreToolUse:",
    "Hook PreToolUse:",
    "Execution stopped by PreToolUse hook",
    "Execute skill:",
    "Execute slash command:",
    "Answer questions?",
    "Exit plan mode?",
    "User rejected",
    "The user rejected",
    "User declined",
    "User denied",
    "The agent proposed a plan that was rejected",
)
"""Beginnings of the text of a call that a person or a rule refused. Without a terminal, Claude Code refuses
what it would have to ask for, and the text is its question."""
_UNSAFE_COMMANDS = ("Command contains ", "Contains ", "Unhandled node type")
"""Beginnings of the text of a command that Claude Code would not run without asking."""
_DECLINED = "User did not allow tool call"
"""What Qwen Code says of a call that the user refused. It calls the call cancelled."""
_REFUSING_WORDS = (
    "requires permission",
    "that permission was declined",
    "denied by your permission settings",
    "was blocked. For security",
    "rejected by user",
    "rejected by the user",
    _DECLINED,
)
"""Words in the first line of the text of such a call."""
_INTERRUPTIONS = (
    "[Request interrupted by user",
    "The user doesn't want to take this action right now",
    "[Operation Cancelled]",
    "Cancelled: parallel tool call",
    "Sibling tool call errored",
    "Command was aborted",
)
"""Beginnings of the text of a call that was interrupted."""
_BACKGROUND_TEXTS = ("Command running in background", "Async agent launched")
_MOVED = "was moved to the background"
"""Words in the first line of a command that took longer than its limit, and continues."""
_BACKGROUND_STATES = (
    *("async_launched", "remote_launched", "queued_to_running"),
    *("backgrounded", "teammate_spawned"),
)


class Result(NamedTuple):
    """The outcome of a call, and the facts in its result."""

    outcome: Outcome
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS


def read_result(tool: Tool, block: Fields, structured: object, *, is_denied: bool = False) -> Result:
    """Read the result of a call.

    Args:
        tool: The tool of the call.
        block: The `tool_result` block.
        structured: The value of `tool_use_result`; on disk, of `toolUseResult`. None without it.
        is_denied: Whether another field or line says that the call was refused.
    """
    details = mapping(structured)
    if block.get("is_error") is True:
        return _failure(tool, block, details, is_denied=is_denied)
    if is_denied:
        return Result(Outcome.REJECTED, reason_of(block))
    if details.get("interrupted") is True or (tool.kind is ToolKind.DELEGATE and _is_stopped(block)):
        return Result(Outcome.CANCELLED)
    exit_code = _stated_exit_code(details)
    if exit_code or details.get("is_error") is True or details.get("success") is False:
        error = f"exit {exit_code}" if exit_code else text(details, "error") or reason_of(block)
        return Result(Outcome.FAILED, error, exit_code)
    if _is_in_background(tool, block, details):
        return Result(Outcome.RETURNED, facts=Facts(note=IN_BACKGROUND))
    return Result(Outcome.SUCCEEDED, None, exit_code, tool.facts(details))


def result_texts(block: Fields) -> Iterator[str]:
    """Yield the texts in the content of a `tool_result` block."""
    content = block.get("content")
    if isinstance(content, str):
        yield content
    for piece in items(content):
        if found := text(mapping(piece), "text"):
            yield found


def _failure(tool: Tool, block: Fields, details: Fields, *, is_denied: bool) -> Result:
    reason = reason_of(block)
    if reason.startswith(_INTERRUPTIONS) and _DECLINED not in reason[:_READ_CHARACTERS]:
        return Result(Outcome.CANCELLED, reason)
    if is_denied or _is_refusal(tool, reason):
        return Result(Outcome.REJECTED, reason or None)
    if details.get("interrupted") is True:
        return Result(Outcome.CANCELLED, reason)
    exit_code = _stated_exit_code(details)
    if exit_code is None and tool.kind is ToolKind.EXECUTE:
        exit_code = _exit_code_in(reason)
    error = f"exit {exit_code}" if exit_code else reason or text(details, "stderr") or "the tool says so"
    return Result(Outcome.FAILED, error, exit_code)


def reason_of(block: Fields) -> str:
    """Return the text of a failed call without the tags around it."""
    found = next(result_texts(block), "")[:_MOST_ERROR].strip()
    return found.removeprefix(_TAG).removesuffix(_END_TAG).strip()


def _is_stopped(block: Fields) -> bool:
    """Return whether a subagent was stopped alone: the turn continues, and the result is no error."""
    return next(result_texts(block), "").startswith("[Request interrupted by user")


def is_bare_refusal(reason: str | None) -> bool:
    """Return whether a text is that of a refusal without the user's words.

    A call that was running when the user interrupted it has the same text.
    """
    return reason is not None and reason.startswith(_BARE_REFUSAL) and _FEEDBACK not in reason


def _is_refusal(tool: Tool, reason: str) -> bool:
    if reason.startswith(EXIT):
        return False
    first = reason[:_READ_CHARACTERS].partition("\n")[0]
    is_unsafe = tool.kind is ToolKind.EXECUTE and reason.startswith(_UNSAFE_COMMANDS)
    awaits_approval = "approval" in first and ("require" in first or "need" in first)
    is_said = reason.startswith(_REFUSALS) or any(words in first for words in _REFUSING_WORDS)
    return is_unsafe or awaits_approval or is_said


def _exit_code_in(reason: str) -> int | None:
    """Return the exit code in the first line of a failed command's text, `Exit code 1`; None without one."""
    if not reason.startswith(EXIT):
        return None
    digits = reason[len(EXIT) : len(EXIT) + _MOST_DIGITS].partition("\n")[0].strip()
    is_number = digits.isascii() and digits.removeprefix("-").isdecimal()
    return int(digits) if is_number else None


def _stated_exit_code(details: Fields) -> int | None:
    for key in ("exit_code", "exitCode"):
        if (found := number(details, key)) is not None:
            return found
    return None


def _is_in_background(tool: Tool, block: Fields, details: Fields) -> bool:
    if text(details, "backgroundTaskId") or details.get("isAsync") is True:
        return True
    if tool.kind not in (ToolKind.EXECUTE, ToolKind.DELEGATE):
        return False
    if details:
        return details.get("status") in _BACKGROUND_STATES
    words = next(result_texts(block), "")
    return words.startswith(_BACKGROUND_TEXTS) or _MOVED in words[:_READ_CHARACTERS].partition("\n")[0]
