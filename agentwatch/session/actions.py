"""Formats a call as one line of the text format.

A line consists of the phrase, the target and the outcome in brackets. It is safe text. Example:
`Ran terminal command pytest -q (failed: exit 1)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line

TARGET_COLUMNS = 200
ERROR_COLUMNS = 120
_MOST_TARGET_CHARACTERS = 2000
_FOLDER = re.compile(
    r"""cd[ \t]{1,8}(?:"[^"]{1,400}"|'[^']{1,400}'|(?:[^\s"'\\;&|]|\\.){1,400})[ \t]{0,8}"""
    r"""(?:&&|;)\s{0,8}(?=[^\s\\])"""
)


def action(call: Call, shown: SafeText | None = None) -> SafeText:
    """Return a call as a line of the text format.

    Example:
        >>> call = Call(1, 1, "call-1", "read", "Read file", target="src/app.py", note="54 lines")
        >>> call.outcome = Outcome.SUCCEEDED
        >>> action(call)
        'Read file src/app.py (54 lines)'
    """
    words = [safe_line(call.phrase)]
    if call.target:
        words.append(target(call) if shown is None else shown)
    note = outcome_note(call)
    if note:
        words.append(SafeText(f"({note})"))
    return SafeText(" ".join(words))


def brief_action(call: Call) -> SafeText:
    """Return only the phrase: `Read file`. The agent's documentation lists it for its own text format."""
    return safe_line(call.phrase)


def target(call: Call) -> SafeText:
    """Return the target of a call as one line of at most 200 columns; empty if unknown."""
    return cut(safe_line(call.target or ""), TARGET_COLUMNS)


def shown_target(call: Call) -> SafeText:
    """Return the target of a call without a leading `cd DIR &&` and without the name of its own tool.

    It is one line of at most 200 columns. Filters, copies and the text format use the whole target.
    """
    text = (call.target or "")[:_MOST_TARGET_CHARACTERS]
    if call.kind is ToolKind.EXECUTE:
        while (found := _FOLDER.match(text)) is not None:
            text = text[found.end() :]
    if text == call.tool:
        text = ""
    text = text.removeprefix(f"{call.tool} ")
    return cut(safe_line(text), TARGET_COLUMNS)


def outcome_note(call: Call) -> SafeText:
    """Return the outcome of a call in few words: `54 lines`, `+3 -1`, `failed: exit 1`, `rejected`.

    Empty for a call that succeeded without a note and without changed lines.
    """
    if call.outcome is Outcome.SUCCEEDED:
        return safe_line(call.note or change_size(call) or "")
    if call.outcome is Outcome.FAILED and call.error:
        return cut(safe_line(f"failed: {_first_line(call.error)}"), ERROR_COLUMNS)
    if call.outcome is Outcome.RETURNED and call.note:
        return safe_line(call.note)
    return safe_line(call.outcome)


def count_words(counts: Mapping[Outcome, int]) -> list[SafeText]:
    """Return the number of calls, then the number with each outcome other than succeeded.

    Example:
        >>> count_words({Outcome.SUCCEEDED: 2, Outcome.FAILED: 1})
        ['3 calls', '1 failed']
    """
    words = [plural(sum(counts.values()), "call")]
    words += [f"{count} {outcome}" for outcome, count in counts.items() if outcome is not Outcome.SUCCEEDED]
    return [SafeText(word) for word in words]


def ended_ms(call: Call) -> int | None:
    """Return when a call ended, in milliseconds since the epoch; None if unknown.

    The agent's timestamp is preferred to the arrival time of the line.
    """
    return call.ended.seen_ms if call.ended_ms is None and call.ended is not None else call.ended_ms


def change_size(call: Call) -> str | None:
    """Return the number of lines that an edit added and removed, `+3 -1`; None if both are unknown."""
    changes = []
    if call.lines_added is not None:
        changes.append(f"+{call.lines_added}")
    if call.lines_removed is not None:
        changes.append(f"-{call.lines_removed}")
    return " ".join(changes) or None


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
