"""Reads how a call of a Qwen chat ended: the agent's own word, the reason of a failure, and the facts."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome
from agentwatch.text.amounts import plural
from agentwatch.wire.changes.unified import changed_lines
from agentwatch.wire.fields import in_words, mapping, number, text
from agentwatch.wire.tool import Facts, Phrase

_REFUSED = frozenset(("execution_denied", "permission_denied_by_user", "policy_violation"))
"""Types of the error of a call that a person or a rule refused."""
_CANCELLED_WORDS = "[Operation Cancelled]"
_DECLINED_WORDS = ("User did not allow", "User denied", "User declined")
"""Words in the reason of a call that the user refused, which the agent calls cancelled."""
_REFUSED_WORDS = ("requires approval", *_DECLINED_WORDS, "denied by", "rejected by")
_READ_CHARACTERS = 1000
"""The beginning of a reason in which words of a refusal are searched."""
_EXIT = "Exit Code: "
_AFTER_EXIT = ("Signal: ", "Background PIDs: ", "Process Group PGID: ")
"""What may follow the exit code at the end of the text that the model gets."""
_MOST_LINES = 8


class Ending(NamedTuple):
    """How a call ended."""

    outcome: Outcome
    error: str | None = None


def ending(status: object, reason: str | None, error_type: str | None) -> Ending:
    """Return the outcome of a call.

    Args:
        status: The agent's word.
        reason: The message of the error, if there is one.
        error_type: The type of the error.
    """
    words = reason or error_type
    if status == "success":
        return Ending(Outcome.SUCCEEDED)
    if any(each in (reason or "")[:_READ_CHARACTERS] for each in _DECLINED_WORDS):
        return Ending(Outcome.REJECTED, words)
    if status == "cancelled" or (words or "").startswith(_CANCELLED_WORDS):
        return Ending(Outcome.CANCELLED, words)
    if error_type in _REFUSED or any(each in (reason or "")[:_READ_CHARACTERS] for each in _REFUSED_WORDS):
        return Ending(Outcome.REJECTED, words)
    if status == "error" or words is not None:
        return Ending(Outcome.FAILED, words)
    if status is None:
        return Ending(Outcome.RETURNED)
    return Ending(Outcome.RETURNED, f"unknown status {in_words(status)}")


def exit_code_in(reason: str | None) -> int | None:
    """Return the exit code at the end of the text of a command that failed; None without one.

    The output of the command is before it, and may contain such a line too.

    Example:
        >>> exit_code_in("Output: no\\nError: (none)\\nExit Code: 2\\nSignal: (none)")
        2
    """
    for line in reversed((reason or "")[-_READ_CHARACTERS:].rstrip().split("\n")[-_MOST_LINES:]):
        if line.startswith(_EXIT):
            return number({"code": line.removeprefix(_EXIT).strip()}, "code")
        if not line.startswith(_AFTER_EXIT):
            return None
    return None


def shown_facts(shown: object, facts: Facts) -> Facts:
    """Return the facts in the displayed result of a call that changed a file; others have their arguments'.

    Args:
        shown: The displayed result.
        facts: The facts in the arguments.
    """
    fields = mapping(shown)
    diff = text(fields, "fileDiff")
    if diff is None or fields.get("fileDiffTruncated") is True:
        return facts
    added, removed = changed_lines(diff)
    if fields.get("originalContent", diff) in (None, ""):
        return Facts(plural(added, "line"), is_new_file=True, lines_added=added, lines_removed=removed)
    return Facts(phrase=Phrase.EDITED, lines_added=added, lines_removed=removed)
