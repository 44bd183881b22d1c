"""Opens the list of saved sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentwatch.events import Outcome
from agentwatch.faults import cannot_open
from agentwatch.feed.catalog import SavedSession, saved_sessions
from agentwatch.machine.found import Key
from agentwatch.machine.row import Row
from agentwatch.machine.standing import Ground, Standing, State
from agentwatch.recording import sessions_folder

_STATES = {
    Outcome.SUCCEEDED: State.SUCCEEDED,
    Outcome.FAILED: State.FAILED,
    Outcome.UNFINISHED: State.UNFINISHED,
    Outcome.RUNNING: State.WORKING,
}


def opened_catalog() -> Iterator[SavedSession]:
    """Return an iterator over the saved sessions, newest first.

    Raises:
        Fault: The folder of sessions cannot be read, or is a link.
    """
    try:
        return saved_sessions()
    except OSError as error:
        raise cannot_open(sessions_folder(), error) from None


def known_rows(*, wants_all: bool) -> Mapping[Key, Row]:
    """Return the rows of the saved sessions.

    Args:
        wants_all: Whether old sessions are read too.

    Raises:
        Fault: The folder of sessions cannot be read, or is a link.
    """
    del wants_all
    rows = {}
    for session in opened_catalog():
        began_ms = int(session.began.timestamp() * 1000)
        state = State.UNKNOWN if session.outcome is None else _STATES.get(session.outcome, State.UNFINISHED)
        row = Row(
            key=("agentwatch", session.path.stem),
            agent="",
            id=session.path.stem,
            path=session.path,
            standing=Standing(state, Ground.INFERRED),
            title=session.prompt,
            began_ms=began_ms,
            seen_ms=began_ms,
            size=session.size,
            is_own=True,
        )
        rows[row.key] = row
    return rows
