"""The events that a command of the user's is given: a rule that was hit, or a change of a session's state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.agents.state_report import State
from agentwatch.analysis.unread_counts import ended_turns
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session

NEEDS_YOU, ENDED, FAILED, LIMIT = EVENTS = ("needs-you", "ended", "failed", "limit")
"""The changes of a session's state that a command may be given."""
HIT = "rule"


class Event(NamedTuple):
    """An event in a session. Its texts are foreign."""

    event: str
    """`rule`, or one of `EVENTS`."""
    rule: str
    at_ms: int
    state: str
    """The state of the session, as in a list of sessions: `asks`, `working`, `succeeded`."""
    agent: str = ""
    session: str = ""
    title: str = ""
    call: int | None = None
    """The number of the call that has hit the rule."""
    words: str = ""
    """The call, what is asked, or why the session has failed."""
    command: str | None = None
    """The whole command of the call that has hit the rule or that asks; None if it has none."""


class Changes:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked, self._ended = session.questions.count, ended_turns(session)
        self._is_refused = session.limits.is_refused

    def new(self, now_ms: int) -> Iterator[tuple[str, str, str | None]]:
        """Yield each event since the last call: its name, a few words, and the command that is asked for."""
        session = self._session
        if (is_refused := session.limits.is_refused) and not self._is_refused:
            yield LIMIT, session.limits.words(now_ms), None
        self._is_refused = is_refused
        asked, ended = session.questions.count, ended_turns(session)
        if asked > self._asked and (oldest := session.questions.oldest) is not None:
            calls = (each for each in session.open_calls.values() if each.call_id == oldest.call_id)
            yield NEEDS_YOU, oldest.words, next((each.command for each in calls), None)
        if ended > self._ended:
            yield ENDED, "", None
            if _last_outcome(session) is Outcome.FAILED:
                yield FAILED, session.last_error, None
        self._asked, self._ended = asked, ended


def state_of(session: Session, now_ms: int) -> str:
    """Return the state of a session by its lines, in the words of a list of sessions."""
    if session.questions.oldest is not None:
        return State.ASKS
    if session.limits.waits(now_ms) and not session.is_closed:
        return State.LIMITED
    outcome = _last_outcome(session) if session.run.is_over else Outcome.RUNNING
    return State.WORKING if outcome is Outcome.RUNNING else outcome.value


def _last_outcome(session: Session) -> Outcome:
    """Return the outcome of the last run, or of the one before it while it runs."""
    is_earlier = not session.run.is_over and len(session.runs) > 1
    return session.runs[-2].outcome if is_earlier else session.run.outcome
