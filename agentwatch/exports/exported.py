"""The session that an export writes, or a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentwatch.analysis.call_filter import Matches
from agentwatch.feed import Feed
from agentwatch.feed.timeline import RecordedTimes
from agentwatch.redaction import Report
from agentwatch.session import Call, Entry, Session


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A session at the moment at which the export ends, and what of it is exported.

    Calls keep their numbers, also in a part: `#12` is the same call as on the screen.
    """

    name: str
    """The name of the recording, without its folder: `session.ndjson`."""
    feed: Feed
    """Its session is that of the last exported moment. It reads the blocks of calls."""
    timeline: RecordedTimes
    """The times of the whole recording."""
    modified_ms: int = 0
    """When its file was last written, in milliseconds since the epoch."""
    start: int = 0
    """The offset at which the exported part starts."""
    is_whole: bool = True
    """Whether nothing of the session is left out."""
    filter_words: str = ""
    """The words that select calls; empty if all are exported."""
    matches: Matches | None = None
    """Returns whether the words select a call; None if there are no words."""
    report: Report | None = None
    """What was masked; None if the export is raw."""

    @property
    def session(self) -> Session:
        """The session as of the last exported moment."""
        return self.feed.session

    def calls(self) -> Iterator[Call]:
        """Yield the exported calls: those of the part that the words select."""
        for call in self.session.calls:
            if self._is_within(call) and (self.matches is None or self.matches(call)):
                yield call

    def entries(self) -> Iterator[Entry]:
        """Yield the exported entries of the transcript. With words, only the calls that they select."""
        transcript = self.session.transcript
        offsets = transcript.offsets
        for number in range(len(transcript)):
            if offsets[number] < self.start and not self._may_go_on(number):
                continue
            entry = transcript[number]
            call = entry.call
            if call is None:
                if self.matches is None and offsets[number] >= self.start:
                    yield entry
            elif self._is_within(call) and (self.matches is None or self.matches(call)):
                yield entry

    def _may_go_on(self, number: int) -> bool:
        """Return whether an entry that began before the part may belong to it: a call that ended in it."""
        return self.session.transcript[number].call is not None

    def _is_within(self, call: Call) -> bool:
        """Return whether a call was open or began in the part."""
        if self.start == 0 or call.ended is None:
            return True
        return call.ended.offset >= self.start
