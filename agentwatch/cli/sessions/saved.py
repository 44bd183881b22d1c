"""Opens the list of saved sessions."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.faults import cannot_open
from agentwatch.feed.catalog import SavedSession, saved_sessions
from agentwatch.recording import sessions_folder


def opened_catalog() -> Iterator[SavedSession]:
    """Return an iterator over the saved sessions, newest first.

    Raises:
        Fault: The folder of sessions cannot be read, or is a link.
    """
    try:
        return saved_sessions()
    except OSError as error:
        raise cannot_open(sessions_folder(), error) from None
