"""Reads the error messages of Codex."""

from __future__ import annotations

from agentwatch.events import Event, Notice, Retry
from agentwatch.wire.fields import Fields, mapping, text

_RETRY = "Reconnecting..."
_MOST_DIGITS = 9


def message_in(fields: Fields) -> str | None:
    """Return the message of an error; None for an error without one."""
    found = text(fields, "message")
    return None if found is None else plain(found)


def plain(message: str) -> str:
    """Return an error message as a person reads it.

    The message may be the body of the model's answer, which is JSON.

    Example:
        >>> plain('{"error": {"message": "no such model"}}')
        'no such model'
    """
    fields = mapping(message)
    inner = mapping(fields.get("error"))
    return text(inner, "message") or text(fields, "message") or text(fields, "detail") or message


def error_event(message: str, at_ms: int | None = None) -> Event:
    """Return the event of an error that does not end the turn by itself: a retry, or a notice.

    Example:
        >>> error_event("Reconnecting... 1/5 (stream disconnected)")[:3]
        ('stream disconnected', 1, 5)
    """
    if not message.startswith(_RETRY):
        return Notice(message, at_ms, is_error=True)
    counts, _, reason = message.removeprefix(_RETRY).strip().partition(" ")
    attempt, _, most = counts.partition("/")
    reason = reason.removeprefix("(").removesuffix(")")
    return Retry(reason, _count(attempt), _count(most), at_ms=at_ms)


def _count(digits: str) -> int | None:
    return int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None
