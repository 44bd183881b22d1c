"""What a checkpoint keeps of a session, and the session that is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agentwatch.session.asked import Asked
from agentwatch.session.earlier.calls import EarlierCalls
from agentwatch.session.earlier.transcript import EarlierTranscript, transcript_state
from agentwatch.session.session import Session
from agentwatch.session.transcript import Transcript

SessionState = dict[str, Any]
"""The attributes of a session. Of what only grows, it has the length."""


def session_state(session: Session) -> SessionState:
    """Return what a checkpoint keeps of a session. Its values are those of the session, not copies."""
    lines, asked = session.lines, session.asked
    return {
        **vars(session),
        "calls": len(session.calls),
        "ended_calls": len(session.ended_calls),
        "notices": session.notices.counts(),
        "transcript": transcript_state(session.transcript),
        "runs": (len(session.runs) - 1, session.runs[-1]) if session.runs else None,
        "asked": (len(asked.said), asked.open_questions, asked.count),
        "lines": (len(lines.odd), replace(lines, odd=[])),
    }


def earlier_session(newest: Session, restored: Callable[[Transcript], SessionState], offset: int) -> Session:
    """Return the session at a checkpoint.

    Args:
        newest: The session that the checkpoint was taken of.
        restored: Returns a copy of what the checkpoint kept, in which the answers of the runs are texts of
            the given transcript.
        offset: The offset of the checkpoint.
    """
    calls = EarlierCalls(newest.calls)
    transcript = EarlierTranscript(newest.transcript, calls)
    state = restored(transcript)
    session = Session.__new__(Session)
    vars(session).update(state)
    calls.restore(state["calls"], state["unended"].values(), offset)
    transcript.restore(state["transcript"])
    session.calls, session.transcript = calls, transcript
    session.notices = newest.notices.at(transcript, state["notices"])
    session.ended_calls = newest.ended_calls.prefix(calls, state["ended_calls"])
    session.runs = [] if state["runs"] is None else [*newest.runs[: state["runs"][0]], state["runs"][1]]
    said, questions, count = state["asked"]
    session.asked = Asked(newest.asked.said[:said], questions, count)
    odd, lines = state["lines"]
    session.lines = replace(lines, odd=newest.lines.odd[:odd])
    return session


def empty_session(newest: Session) -> Session:
    """Return the session before its first line; `newest` is the session with all lines."""
    return earlier_session(newest, lambda _: session_state(Session()), 0)
