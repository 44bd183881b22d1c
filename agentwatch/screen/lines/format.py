"""Formats signs, durations, times and paths for the screen.

Every colour on the screen is accompanied by a sign or a word.
"""

from __future__ import annotations

from datetime import datetime

from agentwatch.events import Outcome
from agentwatch.session import Call
from agentwatch.text.safe import SafeText, columns, cut, fitting

SIGNS = {
    Outcome.RUNNING: "◐",
    Outcome.SUCCEEDED: "✓",
    Outcome.FAILED: "✗",
    Outcome.REJECTED: "⊘",
    Outcome.CANCELLED: "⊖",
    Outcome.RETURNED: "↵",
    Outcome.UNFINISHED: "◌",
}
UNKNOWN = "–"
CHOSEN_MARK = "▐"
"""Stands before the selected row, and before a failure whose detail stays open."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
"""Block characters that fill a column from the left, in eighths."""


def clock(duration_ms: int) -> str:
    """Return a duration in a short form: `37 ms`, `9.8 s`, `2:13`, `1:02:13`."""
    if duration_ms < 100:
        return f"{duration_ms} ms"
    seconds = duration_ms / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def call_clock(call: Call, now_ms: int | None) -> str:
    """Return a call's duration, or how long it has been running; `~` marks a time by agentwatch's own clock.

    Args:
        call: The call.
        now_ms: The session's current time by the clock of the arrival times, in ms since the epoch; if it is
            None, the duration of a running call is unknown.
    """
    if call.outcome is Outcome.RUNNING:
        if now_ms is None or call.started is None or call.started.seen_ms is None:
            return UNKNOWN
        return clock(max(now_ms - call.started.seen_ms, 0))
    if call.duration_ms is not None:
        return clock(call.duration_ms)
    if call.seen_duration_ms is not None:
        return f"~{clock(call.seen_duration_ms)}"
    return UNKNOWN


def time_of_day(epoch_ms: int | None) -> str:
    """Return a time in the user's time zone, `14:03:07`; dashes if it is unknown."""
    try:
        return f"{datetime.fromtimestamp((epoch_ms or 0) / 1000):%H:%M:%S}" if epoch_ms else "--:--:--"
    except (ValueError, OSError, OverflowError):
        return "--:--:--"


def cut_middle(text: SafeText, limit: int) -> SafeText:
    """Return a path of at most `limit` columns, shortened in the middle: `agentwatch/…/calls.py`.

    The file name is kept, or its end if it is too long. The remaining width shows whole folders, most of them
    before the file name.
    """
    if columns(text) <= limit:
        return text
    tail = _ending(text, limit - 1)
    name = text[max(text.rfind("/"), 0) :]
    if len(name) >= len(tail):
        return SafeText(f"…{tail}")
    tail = _ending(text, max((limit - 1) * 2 // 3, columns(SafeText(name))))
    tail = SafeText(tail[tail.index("/") :])
    head = text[: fitting(text, 0, max(limit - 1 - columns(tail), 1))]
    head = head[: head.rfind("/") + 1]
    if not head or columns(SafeText(head)) + 1 + columns(tail) > limit:
        tail = _ending(text, limit - 1)
        return SafeText(f"…{tail[tail.index('/') :]}")
    return SafeText(f"{head}…{tail}")


def _ending(text: SafeText, limit: int) -> SafeText:
    kept = text[-max(limit, 1) :]
    while kept and columns(SafeText(kept)) > limit:
        kept = kept[1:]
    return SafeText(kept)


def fitted(text: SafeText, width: int, *, is_path: bool = False) -> SafeText:
    """Return text cut or padded to exactly `width` columns.

    Args:
        text: The text.
        width: The width, in columns.
        is_path: Whether to cut the text in the middle instead of at its end.
    """
    if width <= 0:
        return SafeText("")
    shown = cut_middle(text, width) if is_path else cut(text, width)
    return SafeText(shown + " " * (width - columns(shown)))
