"""Signs: every colour on the screen comes with a sign or a word.

The keys are the values of `Outcome` and of `PlanStatus`, whose members are found by them.
"""

from __future__ import annotations

from collections.abc import Mapping

SIGNS: Mapping[str, str] = {
    "running": "◐",
    "succeeded": "✓",
    "failed": "✗",
    "rejected": "⊘",
    "cancelled": "⊖",
    "returned": "↵",
    "unfinished": "◌",
}
"""The signs by the outcome of a call or of a run."""
ASKS_SIGN = "!"
"""The sign of what waits for the user: a session, or an open call of it."""
MINUS = "−"
"""The sign of removed lines on the screen; the text format has `-`."""
PLAN_SIGNS: Mapping[str, str] = {
    "pending": "○",
    "in_progress": "◐",
    "completed": "✓",
    "cancelled": "✗",
}
"""The signs by the status of an entry of a to-do list."""
THOUGHT_SIGN = "~"
MESSAGE_SIGN = "›"
EIGHTHS = " ▏▎▍▌▋▊▉█"
"""Block characters that fill a column from the left, in eighths."""
