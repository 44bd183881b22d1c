"""Counts the calls of a session by their outcome."""

from __future__ import annotations

from agentwatch.events import Outcome
from agentwatch.session.session import Session


def calls_by_outcome(session: Session) -> dict[Outcome, int]:
    """Return the number of calls with each outcome, in the order of `Outcome`.

    Outcomes without calls are left out. The counts add up to the number of calls.
    """
    ended, running = session.ended_by_outcome, len(session.open_calls)
    without_end = len(session.calls) - ended.total() - running
    counts = {
        **ended,
        Outcome.RUNNING: running,
        Outcome.UNFINISHED: ended[Outcome.UNFINISHED] + without_end,
    }
    return {outcome: counts[outcome] for outcome in Outcome if counts.get(outcome)}
