"""The state of a session so far: runs, calls, transcript and counts. `apply_line` updates it.

This folder may import only `events`. It knows no agent and no screen.

Example:
    >>> from agentwatch.session.events import Channel, RunStarted, Text
    >>> session = Session()
    >>> apply_line(session, [RunStarted("cursor"), Text(Channel.ANSWER, "Done.")], Place(0, 80, None))
    >>> session.text, session.phase
    ('Done.', <Phase.WRITING: 'writing'>)
"""

from agentwatch.session.call import Call, Pieces, Place
from agentwatch.session.call_store import CallOrder
from agentwatch.session.counts import LineCounts, OddLine, Phase, Rhythm, usually_under
from agentwatch.session.reducers import apply_line, close_session, forget_texts, keep_few
from agentwatch.session.runs import Run, TurnResult
from agentwatch.session.session import Session, calls_by_outcome
from agentwatch.session.transcript import Entry, Kind

__all__ = [
    "Call",
    "CallOrder",
    "Entry",
    "Kind",
    "LineCounts",
    "OddLine",
    "Phase",
    "Pieces",
    "Place",
    "Rhythm",
    "Run",
    "Session",
    "TurnResult",
    "apply_line",
    "calls_by_outcome",
    "close_session",
    "forget_texts",
    "keep_few",
    "usually_under",
]
