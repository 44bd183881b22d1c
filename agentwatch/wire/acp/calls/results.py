"""Reads the result of a tool call: exit code, error, and what changed in a file."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import ToolKind
from agentwatch.wire.acp.calls.changed_lines import changed_lines
from agentwatch.wire.acp.text import count_of, texts_in
from agentwatch.wire.fields import NO_FIELDS, Fields, items, mapping, number, text

_MOST_CHARACTERS = 10_000
_EXIT_CODES = ("exitCode", "exit_code", "exit")
_NO_COMMANDS = (ToolKind.MCP, ToolKind.FETCH, ToolKind.PLAN, ToolKind.DELEGATE, ToolKind.THINK)
_SAID = "Exit code "
"""How Claude Code begins the output of a command that failed. The exit code beside it is always 1."""


class Change(NamedTuple):
    """What a call did to files; None means unknown."""

    added: int | None = None
    removed: int | None = None
    is_new: bool = False


def object_in(value: object) -> Fields:
    """Return a JSON object. A text is no object, even if it contains one: a program may have printed it."""
    return value if isinstance(value, dict) else NO_FIELDS


def exit_code_in(fields: Fields, kind: ToolKind) -> int | None:
    """Return the exit code in an update of a call; None if it contains none.

    opencode writes it to `rawOutput.metadata.exit`, Cursor to `rawOutput.exitCode`, Codex to
    `rawOutput.exit_code`, and Claude Code to `_meta.terminal_exit.exit_code`.
    """
    if kind in _NO_COMMANDS:
        return None
    output = object_in(fields.get("rawOutput"))
    meta = mapping(fields.get("_meta"))
    for place in (output, object_in(output.get("metadata")), object_in(meta.get("terminal_exit"))):
        found = (number(place, key) for key in _EXIT_CODES)
        code = next((each for each in found if each is not None), None)
        if code is not None:
            return code
    return None


def said_exit_code(output: str) -> int | None:
    """Return the exit code with which an output begins: `Exit code 42`."""
    digits = output.removeprefix(_SAID).partition("\n")[0].strip() if output.startswith(_SAID) else ""
    return int(digits) if digits.isdecimal() and len(digits) < 6 else None


def terminal_output(fields: Fields) -> str | None:
    """Return what the terminal of a call has printed since the last line; None if the line has no output."""
    meta = mapping(fields.get("_meta"))
    for key in ("terminal_output_delta", "terminal_output"):
        data = object_in(meta.get(key)).get("data")
        if isinstance(data, str) and data:
            return data
    return None


def error_in(fields: Fields) -> str | None:
    """Return why a call failed, in the agent's words; None if the line has no words."""
    output = fields.get("rawOutput")
    body = object_in(output)
    error = body.get("error")
    found = error if isinstance(error, str) else text(object_in(error), "message")
    found = found or text(body, "message") or next(texts_in(fields.get("content")), None)
    found = found or (output if isinstance(output, str) else None)
    return _unfenced(found)[:_MOST_CHARACTERS] if found else None


def is_refused_by_rule(fields: Fields) -> bool:
    """Return whether a rule of Claude Code refused the call."""
    response = object_in(object_in(mapping(fields.get("_meta")).get("claudeCode")).get("toolResponse"))
    return isinstance(response.get("decisionReasonType"), str)


def change_in(fields: Fields) -> Change | None:
    """Return what the diffs in an update change together; None if it contains none.

    opencode also writes the counts to `rawOutput.metadata`, and whether the file existed before.
    """
    metadata = object_in(object_in(fields.get("rawOutput")).get("metadata"))
    counts = object_in(metadata.get("filediff"))
    counted = count_of(counts, "additions"), count_of(counts, "deletions")
    blocks = (mapping(block) for block in items(fields.get("content")))
    changes = [_change(block) for block in blocks if block.get("type") == "diff"]
    is_new = metadata.get("exists") is False or any(change.is_new for change in changes)
    if counted != (None, None):
        return Change(*counted, is_new=is_new)
    if not changes:
        return Change(is_new=True) if is_new else None
    added = [change.added for change in changes if change.added is not None]
    removed = [change.removed for change in changes if change.removed is not None]
    if len(added) < len(changes):
        return Change(is_new=is_new)
    return Change(sum(added), sum(removed), is_new and metadata.get("exists") is not True)


def _change(block: Fields) -> Change:
    old, new = text(block, "oldText") or "", text(block, "newText") or ""
    kind = mapping(block.get("_meta")).get("kind")
    is_new = kind == "add" if isinstance(kind, str) else not old and bool(new)
    counts = changed_lines(old, new)
    return Change(None, None, is_new) if counts is None else Change(*counts, is_new)


def _unfenced(words: str) -> str:
    """Return a text without the fence of a code block around it."""
    inner = words.strip()
    if not (inner.startswith("```") and inner.endswith("```") and len(inner) > 6):
        return words
    return inner[3:-3].partition("\n")[2].strip() or words
