"""The state of a session so far: runs, calls, transcript and counts, which `Session.apply` updates.

This folder may import only `events`. It does not depend on any agent or on the screen.
"""

from agentwatch.session.call import Call, Place
from agentwatch.session.call_store import CallOrder
from agentwatch.session.line_counts import LineCounts, OddLine
from agentwatch.session.rhythm import Phase, Rhythm, usually_under
from agentwatch.session.runs import Run
from agentwatch.session.session import Session
from agentwatch.session.transcript import Entry, Kind

__all__ = [
    "Call",
    "CallOrder",
    "Entry",
    "Kind",
    "LineCounts",
    "OddLine",
    "Phase",
    "Place",
    "Rhythm",
    "Run",
    "Session",
    "usually_under",
]
