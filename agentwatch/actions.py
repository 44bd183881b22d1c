"""A call as one line of the text format.

A line is the phrase, the target, and in brackets what is known of the outcome:
`Ran terminal command pytest -q (failed: exit 1)`. It is safe text.
"""

from __future__ import annotations

from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.session import Call

TARGET_COLUMNS = 200
ERROR_COLUMNS = 120


def action(call: Call) -> SafeText:
    """Return the call's line of the text format."""
    words = [safe_line(call.phrase)]
    if call.target:
        words.append(target(call))
    known = outcome_note(call)
    if known:
        words.append(SafeText(f"({known})"))
    return SafeText(" ".join(words))


def brief_action(call: Call) -> SafeText:
    """Return the bare phrase, which is all that the agent's own text format documents."""
    return safe_line(call.phrase)


def target(call: Call) -> SafeText:
    """Return what the call is about, in one line of at most 200 columns; empty when unknown."""
    return cut(safe_line(call.target or ""), TARGET_COLUMNS)


def outcome_note(call: Call) -> SafeText:
    """Return what is known of the call's outcome; empty when there is nothing to say."""
    if call.outcome is Outcome.SUCCEEDED:
        return safe_line(call.note or change_size(call) or "")
    if call.outcome is Outcome.FAILED and call.error:
        return cut(safe_line(f"failed: {_first_line(call.error)}"), ERROR_COLUMNS)
    return safe_line(call.outcome)


def ended_ms(call: Call) -> int | None:
    """Return when a call ended: by the agent's clock, or where that is silent by ours; None is not known."""
    return call.ended.seen_ms if call.ended_ms is None and call.ended is not None else call.ended_ms


def change_size(call: Call) -> str | None:
    """Return the lines that an edit added and removed, `+3 -1`; None when neither is known."""
    known = []
    if call.lines_added is not None:
        known.append(f"+{call.lines_added}")
    if call.lines_removed is not None:
        known.append(f"-{call.lines_removed}")
    return " ".join(known) or None


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
