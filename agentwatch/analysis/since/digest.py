"""What happened in a session since a moment, call by call."""

from __future__ import annotations

from dataclasses import dataclass

from agentwatch.analysis.episodes import Episode, Episodes, for_reading
from agentwatch.analysis.files import TouchedFile, TouchedFiles
from agentwatch.analysis.since.failures import OpenFailures
from agentwatch.analysis.since.mark import Happened, Mark, happened, new_turns
from agentwatch.analysis.since.verdicts import MOST_BEFORE, VerdictChanges
from agentwatch.events import Outcome, ToolKind
from agentwatch.feed import Feed
from agentwatch.session import Call


@dataclass(slots=True)
class KindCount:
    """The calls of one kind that ended."""

    last: Call
    """The one that ended last."""
    calls: int = 0
    failed: int = 0


class Digest:
    """The calls that ended since a moment: by kind, by file, failures still open, verdicts, trouble.

    `update` reads the calls in small pieces, so that the cost is that of the calls in between. The digest
    grows with the session.
    """

    def __init__(self, feed: Feed, since: Mark) -> None:
        """Create a digest that has read no call.

        Args:
            feed: The feed of the session at the later moment; usually the live one.
            since: The earlier moment.
        """
        self.since = since
        self.failures = OpenFailures()
        self.verdicts = VerdictChanges(feed, since.ended_calls)
        self.kinds: dict[ToolKind, KindCount] = {}
        self._session = feed.session
        self._touched = TouchedFiles(feed.session, since.ended_calls)
        self._episodes = Episodes(feed)
        self._next = max(since.ended_calls - MOST_BEFORE, 0)
        """The position of the next call that is read; calls before the moment are read for their verdicts."""

    def update(self, most: int = 200) -> bool:
        """Read at most `most` newly ended calls; if there are none, the output of one command or one file.

        Returns:
            Whether there may be more to read.
        """
        ended = self._session.ended_calls
        end = min(self._next + most, len(ended))
        for position in range(self._next, end):
            self._add(position, ended[position])
        self._next = end
        self._touched.update(most)  # it begins with the moment, so it ends no later
        is_more = self._episodes.update(most)  # it begins with the session: an episode may have begun before
        return end < len(ended) or is_more or self.verdicts.read_one() or self._episodes.read_one()

    @property
    def happened(self) -> Happened:
        """The counts of what happened."""
        return happened(self._session, self.since)

    @property
    def turns(self) -> int:
        """The number of the user's prompts."""
        return new_turns(self._session, self.since)

    @property
    def changed_files(self) -> list[TouchedFile]:
        """The files that were changed, created or deleted, the last one first."""
        return [file for file in self._touched.newest_first() if file.is_changed]

    @property
    def read_files(self) -> list[TouchedFile]:
        """The files that were read and not changed, the last one first."""
        return [file for file in self._touched.newest_first() if file.is_read and not file.is_changed]

    @property
    def episodes(self) -> list[Episode]:
        """The trouble with a call since the moment; what is not fixed first, then the newest."""
        offset, calls = self.since.offset, self._session.calls
        listed = for_reading(self._episodes.episodes())
        return [each for each in listed if (ended := calls[each.last - 1].ended) and ended.offset >= offset]

    def call(self, number: int) -> Call:
        """Return a call by its number."""
        return self._session.calls[number - 1]

    @property
    def running(self) -> list[Call]:
        """The calls that have started and not ended, in the order of their starts."""
        return [*self._session.open_calls.values()]

    def _add(self, position: int, call: Call) -> None:
        self.verdicts.add(position, call)
        if position < self.since.ended_calls:
            return
        self.failures.add(call)
        count = self.kinds.setdefault(call.kind, KindCount(call))
        count.last = call
        count.calls += 1
        count.failed += call.outcome is Outcome.FAILED
