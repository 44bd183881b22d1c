"""The session that an export writes, or a part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentwatch.analysis.call_filter import Matches
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.feed.timeline import RecordedTimes
from agentwatch.redaction import Report
from agentwatch.session import Call, Entry, Session, calls_by_outcome
from agentwatch.text.safe import SafeText


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
    def masked(self) -> SafeText | None:
        """What was masked, in words; None if the export is raw. A recording is redacted before it is cut."""
        if self.report is None:
            return None
        words = self.report.words()
        return words if self.is_whole else SafeText(f"{words}, in the whole recording")

    @property
    def session(self) -> Session:
        """The session as of the last exported moment."""
        return self.feed.session

    def calls(self) -> Iterator[Call]:
        """Yield the exported calls: those that were open in the part, and that the words select."""
        for call in self.session.calls:
            if self._is_within(call) and (self.matches is None or self.matches(call)):
                yield call

    def outcomes(self) -> Mapping[Outcome, int]:
        """Return the number of exported calls with each outcome, which the session knows of all its calls."""
        if self.start == 0 and self.matches is None:
            return calls_by_outcome(self.session)
        return Counter(call.outcome for call in self.calls())

    def entries(self) -> Iterator[Entry]:
        """Yield the exported entries of the transcript: the exported calls, and the texts of the part.

        A text belongs to the part in which it begins. With words, only calls are exported.
        """
        for entry in self.session.transcript:
            if self.holds(entry):
                yield entry

    def holds(self, entry: Entry) -> bool:
        """Return whether an entry of the transcript is exported."""
        call = entry.call
        if call is None:
            return self.matches is None and self.session.transcript.offsets[entry.number] >= self.start
        return self._is_within(call) and (self.matches is None or self.matches(call))

    def _is_within(self, call: Call) -> bool:
        """Return whether a call was open in the part. One that never ended was open until its run ended."""
        if self.start == 0:
            return True
        if call.ended is not None:
            return call.ended.offset >= self.start
        place = call.arguments_place
        if place is not None and place.offset >= self.start:
            return True
        end = self._end_of(call.run)
        return end is None or end >= self.start

    def _end_of(self, run: int) -> int | None:
        """Return the offset of the line that ended a run, or began the next one; None of one that goes on."""
        runs = self.session.runs
        if run <= len(runs) and (ended := runs[run - 1].ended) is not None:
            return ended.offset
        starts = runs[run].turn_starts if run < len(runs) else ()
        return self.session.transcript.offsets[starts[0]] if starts else None
