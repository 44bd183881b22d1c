"""Summarises in one line what happened while the user was away."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.plurals import plural
from agentwatch.safe_text import SafeText
from agentwatch.session import Call, Session

_CHANGING = frozenset((ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE))


class Mark(NamedTuple):
    """The counts of a session at a moment, which a later `away_summary` is compared with."""

    at_ms: int
    calls: int
    ended_calls: int
    ended_turns: int
    lines: int


def mark(session: Session, at_ms: int) -> Mark:
    """Return the present counts of a session, with `at_ms` as the time of the mark."""
    calls, ended = len(session.calls), len(session.ended_calls)
    return Mark(at_ms, calls, ended, ended_turns(session), session.lines.total)


def ended_turns(session: Session) -> int:
    """Return the number of turns that are over; a run that ended without a result counts as one.

    A stream that ended without a run counts as one, too.
    """
    if not session.runs:
        return int(session.is_closed)
    return len(session.runs) - (not session.run.is_over) + session.continued_turns


def away_summary(session: Session, since: Mark, now_ms: int) -> SafeText:
    """Return what has changed since a mark: `6 m: 14 calls, 3 files +41 −7, 1 failure`.

    Args:
        session: The session.
        since: The mark, made by `mark` when the user left.
        now_ms: The present time, by the clock of `since.at_ms`.

    Returns:
        The summary; empty if no line has arrived since.
    """
    ended = session.ended_calls[since.ended_calls :]
    new = [
        _counted(len(session.calls) - since.calls, "call"),
        _changes([call for call in ended if _has_changed(call)]),
        _counted(sum(call.outcome is Outcome.FAILED for call in ended), "failure"),
        _counted(sum(call.outcome is Outcome.REJECTED for call in ended), "rejection"),
    ]
    if ended_turns(session) > since.ended_turns and session.outcome is not Outcome.RUNNING:
        is_silent = session.outcome is Outcome.UNFINISHED and not session.traits.has_result
        new.append("the run ended" if session.outcome is None or is_silent else _OVER[session.outcome])
    words = ", ".join(filter(None, new))
    if not words and session.lines.total > since.lines:
        words = "no new calls"
    return SafeText(f"{_span(now_ms - since.at_ms)}: {words}" if words else "")


_OVER = {
    Outcome.SUCCEEDED: "the run succeeded",
    Outcome.FAILED: "the run failed",
    Outcome.CANCELLED: "the run was cancelled",
    Outcome.UNFINISHED: "the run ended without a result",
}


def _has_changed(call: Call) -> bool:
    has_lines = call.lines_added is not None or call.lines_removed is not None
    return call.outcome is Outcome.SUCCEEDED and (has_lines or call.kind in _CHANGING)


def _changes(changes: list[Call]) -> str:
    files = _counted(len({call.path or call.target for call in changes}), "file")
    added = sum(call.lines_added or 0 for call in changes)
    removed = sum(call.lines_removed or 0 for call in changes)
    return " ".join(filter(None, (files, f"+{added}" if added else "", f"−{removed}" if removed else "")))


def _counted(count: int, noun: str) -> str:
    return plural(count, noun) if count else ""


def _span(ms: int) -> str:
    seconds = max(ms, 0) // 1000
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    return f"{minutes} m" if minutes < 60 else f"{minutes // 60} h {minutes % 60} m"
