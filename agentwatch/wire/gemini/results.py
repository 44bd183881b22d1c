"""Reads how a Gemini call ended: the agent's own word, the reason of a failure, and the facts."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.text.amounts import plural
from agentwatch.wire.changes.file_change import line_count
from agentwatch.wire.changes.replacement import replacement
from agentwatch.wire.changes.unified import changed_lines
from agentwatch.wire.fields import Fields, in_words, mapping, text
from agentwatch.wire.tool import NO_FACTS, Facts, Phrase, Tool

_REFUSED = "policy_violation"
"""The type of the error of a call that a rule refused (`ToolErrorType`). `permission_denied` is a limit of
the system that the tool met."""
_REFUSED_WORDS = "Tool execution denied by policy"
"""The beginning of the message with which the agent refuses a call by a rule."""
_DECLINED_WORDS = ("User did not allow tool call", "User denied execution")
"""Words in the reason of a call that the user refused, which the agent calls cancelled."""
_READ_CHARACTERS = 1000
"""The beginning of a reason in which words of a refusal are searched."""
_CANCELLED_WORDS = "[Operation Cancelled]"
"""The beginning of the response of a call that was cancelled."""
_CANCELLED = ("cancelled", "canceled")
_FAILED = ("error", "failed")
_NOTE_KINDS = (ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH)
_MOST_NOTE = 60


class Ending(NamedTuple):
    """How a call ended."""

    outcome: Outcome
    error: str | None = None
    unknown_status: str | None = None


def ending(status: object, reason: str | None, error_type: str | None = None) -> Ending:
    """Return the outcome of a call.

    The agent's own status counts: a command with an exit code other than 0 is a success, and the stream
    contains no exit code.

    Args:
        status: The agent's word.
        reason: The message of the error, if there is one.
        error_type: The type of the error.
    """
    if status == "success":
        return Ending(Outcome.SUCCEEDED)
    words = reason or error_type
    if any(each in (words or "")[:_READ_CHARACTERS] for each in _DECLINED_WORDS):
        return Ending(Outcome.REJECTED, words)
    if status in _CANCELLED or (words or "").startswith(_CANCELLED_WORDS):
        return Ending(Outcome.CANCELLED, words)
    if error_type == _REFUSED or (words or "").startswith(_REFUSED_WORDS):
        return Ending(Outcome.REJECTED, words)
    if status in _FAILED or (status is None and words is not None):
        return Ending(Outcome.FAILED, words)
    if status is None:
        return Ending(Outcome.RETURNED, "came back without a status")
    return Ending(Outcome.RETURNED, f"unknown status {in_words(status)}", in_words(status))


def argument_facts(name: str, arguments: Fields) -> Facts:
    """Return the facts that the arguments of a call contain about a successful result."""
    if name == "write_file":
        content = text(arguments, "content")
        return NO_FACTS if content is None else Facts(note=plural(line_count(content), "line"))
    before, after = arguments.get("old_string"), arguments.get("new_string")
    if (
        name != "replace"
        or not (isinstance(before, str) and isinstance(after, str))
        or is_multiple(arguments)
    ):
        return NO_FACTS
    found = replacement(before, after)
    if not before:  # the tool creates a file if there is nothing to replace
        note = plural(found.added, "line")
        return Facts(note, Phrase.CREATED, is_new_file=True, lines_added=found.added, lines_removed=0)
    return Facts(lines_added=found.added, lines_removed=found.removed)


def is_multiple(arguments: Fields) -> bool:
    """Return whether a `replace` may change several places, so that its line counts are not known."""
    expected = arguments.get("expected_replacements")
    return arguments.get("allow_multiple") is True or expected not in (None, 1)


def shown_facts(tool: Tool, shown: object, facts: Facts) -> Facts:
    """Return the facts in what the agent showed of a result.

    Args:
        tool: The tool of the call.
        shown: The text or the object that the agent showed.
        facts: The facts in the arguments.
    """
    if isinstance(shown, str):
        line = shown.strip().removesuffix(".")
        is_note = tool.kind in _NOTE_KINDS and 0 < len(line) <= _MOST_NOTE and "\n" not in line
        return facts._replace(note=line) if is_note else facts
    fields = mapping(shown)
    diff = text(fields, "fileDiff")
    if diff is None:
        return facts
    added, removed = changed_lines(diff)
    if fields.get("isNewFile") is True or fields.get("originalContent", diff) in (None, ""):
        note = plural(added, "line")
        return Facts(note, Phrase.CREATED, is_new_file=True, lines_added=added, lines_removed=removed)
    return Facts(phrase=Phrase.EDITED, lines_added=added, lines_removed=removed)
