"""Detects calls that fail while the session is watched."""

from __future__ import annotations

from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.session import Call


class NewFailures:
    """Finds failures among the calls that end after a moment."""

    def __init__(self, feed: Feed, moment: int) -> None:
        """Watch the session of a feed from a moment on: a number of bytes of the recording."""
        self._session = feed.session
        self._history = moment
        self._ended = 0

    def go_on(self, feed: Feed) -> None:
        """Watch a feed that stands at another moment of the same session; what comes after it is new."""
        self._session, self._history = feed.session, min(self._history, feed.offset)

    def newest(self) -> Call | None:
        """Return the last call that failed since the previous check; None if no call failed."""
        ended = self._session.ended_calls
        first, self._ended = self._ended, len(ended)
        for index in range(len(ended) - 1, first - 1, -1):
            call = ended[index]
            if call.ended is not None and call.ended.offset < self._history:
                break
            if call.outcome is Outcome.FAILED:
                return call
        return None
