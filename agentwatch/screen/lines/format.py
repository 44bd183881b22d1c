"""The signs and the clock of the screen. Every colour carries a sign or a word as well."""

from __future__ import annotations

from datetime import datetime

from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, columns, cut, fitting
from agentwatch.session import Call

SIGNS = {
    Outcome.RUNNING: "◐",
    Outcome.SUCCEEDED: "✓",
    Outcome.FAILED: "✗",
    Outcome.REJECTED: "⊘",
    Outcome.UNFINISHED: "◌",
}
UNKNOWN = "–"
EIGHTHS = " ▏▎▍▌▋▊▉█"
"""A column filled from the left, by eighths."""


def clock(duration_ms: int) -> str:
    """Return a duration to be read at a glance: `37 ms`, `9.8 s`, `2:13`, `1:02:13`."""
    if duration_ms < 100:
        return f"{duration_ms} ms"
    seconds = duration_ms / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def call_clock(call: Call, now_ms: int | None) -> str:
    """Return a call's duration, or how long it has been running; `~` marks our clock's reading.

    Args:
        call: The call.
        now_ms: The time that it is for the session, by the clock of the arrival times.
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
    """Return a time in the user's own zone, `14:03:07`; dashes when it is not known."""
    try:
        return f"{datetime.fromtimestamp((epoch_ms or 0) / 1000):%H:%M:%S}" if epoch_ms else "--:--:--"
    except (ValueError, OSError, OverflowError):
        return "--:--:--"


def cut_middle(text: SafeText, limit: int) -> SafeText:
    """Return a path of at most `limit` columns, cut where it hurts least: `agentwatch/…/calls.py`.

    The name stays, of a name that is too long its end; then as many whole folders as there is room for,
    most of them before the name.
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
    """Return text in exactly `width` columns, cut or filled up."""
    if width <= 0:
        return SafeText("")
    shown = cut_middle(text, width) if is_path else cut(text, width)
    return SafeText(shown + " " * (width - columns(shown)))
