"""The calls that fail while they are watched."""

from __future__ import annotations

from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.session import Call


class NewFailures:
    """Looks for failures among the calls that end once the session is open; of a replay all do."""

    def __init__(self, feed: Feed) -> None:
        self._session = feed.session
        self._history = 0 if feed.pace is not None else feed.reader.growth.size()
        self._ended = 0

    def newest(self) -> Call | None:
        """Return the call that has failed last since the last time; None where none has."""
        ended = self._session.ended_calls
        first, self._ended = self._ended, len(ended)
        for index in range(len(ended) - 1, first - 1, -1):
            call = ended[index]
            if call.ended is not None and call.ended.offset < self._history:
                break
            if call.outcome is Outcome.FAILED:
                return call
        return None
