"""Describes everything in a session, so that two sessions can be compared."""

from __future__ import annotations

from agentwatch.outputs.summary import summary
from agentwatch.session import Entry, Session


def described(session: Session) -> dict[str, object]:
    """Return everything that a session contains, by name; equal sessions have equal descriptions."""
    lines, asked = session.lines, session.asked
    return {
        "summary": b"".join(summary(session)),
        "entries": [_entry(entry) for entry in session.transcript],
        "offsets": [session.transcript.offsets[at] for at in range(len(session.transcript))],
        "calls": [repr(call) for call in session.calls],
        "ended": [call.number for call in session.ended_calls],
        "open": repr(session.open_calls),
        "unended": repr(session.unended),
        "phase": session.phase,
        "plan": session.plan,
        "asked": (asked.said, asked.open_questions, asked.count),
        "waits": (session.retry, session.compacting, session.last_error),
        "lines": (repr(lines), lines.odd, lines.first_text, lines.last_text),
        "rhythm": vars(session.rhythm),
        "last_seen_ms": session.last_seen_ms,
        "counts": (session.completed_without_started, session.continued_turns, session.never_completed),
        "outcomes": (session.ended_by_outcome, session.is_closed),
        "agent": (session.format, session.agent_name, session.traits),
        "runs": [
            (run.turns, run.pauses, run.began_seen_ms, run.turn_seen_ms, run.text, run.tokens, run.prompt)
            for run in session.runs
        ],
        "run_ids": [
            (run.session_id, run.duration_of_turns_ms, run.model, run.outcome) for run in session.runs
        ],
    }


def _entry(entry: Entry) -> tuple[object, ...]:
    result = entry.result
    times = entry.started_ms, entry.ended_ms, entry.is_open, entry.parent
    about = None if result is None else (result.outcome, result.text, result.duration_ms, result.is_streamed)
    return entry.number, entry.kind, entry.text, times, repr(entry.call), about
