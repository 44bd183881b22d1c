"""The session that an export writes, or a part of it: opened, redacted and cut."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents import Agent
from agentwatch.analysis.moments import Asked, Problem, part_of
from agentwatch.analysis.prices import count_uses
from agentwatch.feed.feed import Feed, RecordedTimes
from agentwatch.feed.history import History
from agentwatch.output.redact.mask import Masks
from agentwatch.output.redact.recording import Progress, redacted
from agentwatch.output.redact.writing import Report
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.recording.lines import LineReader
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.filter import Matches, call_filter
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session, calls_by_outcome
from agentwatch.session.transcript import Entry
from agentwatch.text.safe import SafeText


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A session at the moment at which the export ends, and what of it is exported.

    Calls keep their numbers, also in a part: `#12` is the same call as on the screen.
    """

    name: str
    """The name of the recording, without its folder: `session.ndjson`."""
    feed: Feed
    """A feed whose session is that of the last exported moment. It reads the blocks of calls."""
    timeline: RecordedTimes
    """The times of the whole recording."""
    modified_ms: int = 0
    """The time of the last write to its file, in milliseconds since the epoch."""
    start: int = 0
    """The offset at which the exported part starts."""
    is_whole: bool = True
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
        """Return the offset of the line that ended a run, or began the next one; None for an open run."""
        runs = self.session.runs
        if run <= len(runs) and (ended := runs[run - 1].ended) is not None:
            return ended.offset
        starts = runs[run].turn_starts if run < len(runs) else ()
        return self.session.transcript.offsets[starts[0]] if starts else None


_MOST_SETTLED = 1 << 16
"""The newest calls that stay unpacked, 49 MB: an export visits each call several times, and a comparison of
60,000 calls takes 40 % less CPU."""
_STEP_SECONDS = 0.1
"""The time after which the progress of reading is reported again."""


class Wanted(NamedTuple):
    """The part of a session to export, and the form."""

    asked: Asked = Asked()
    """The moments between which it lies."""
    words: str = ""
    """Words that select calls, as in the filter of the screen; empty for everything."""
    is_raw: bool = False
    """Whether secrets and personal data stay in."""
    masks: Masks | None = None
    """The source of masks if several sessions must have the same; None for masks of one session."""


def exported(
    reader: LineReader,
    name: str,
    wanted: Wanted,
    agent: Agent | None = None,
    bookmarks_path: Path | None = None,
    progress: Progress | None = None,
) -> Exported | Problem:
    """Return what is exported of a recording, or why the recording has no such part.

    Args:
        reader: Reads the recording from its start.
        name: The name of the recording, for titles.
        wanted: Which part is exported, and how.
        agent: The agent that wrote the recording; None to detect it.
        bookmarks_path: Where its bookmarks are kept; None if nowhere.
        progress: Is called while the recording is redacted, or read if nothing is redacted.

    Raises:
        OSError: The redacted copy cannot be written.
    """
    by_name = Bookmarks(bookmarks_path, partial(ends_a_line, reader.line_at)).by_name()
    report, modified_ms = None, os.fstat(reader.fd).st_mtime_ns // 1_000_000
    shown = progress if wanted.is_raw else None
    if not wanted.is_raw:
        copy = redacted(reader, progress, wanted.masks)
        copy.reader.exit_code = reader.exit_code
        reader, report = copy.reader, copy.report
        by_name = {each: copy.offset_of(offset) for each, offset in by_name.items()}
    feed = Feed(reader, agent)
    feed.session.calls.most_settled = _MOST_SETTLED
    count_uses(feed.session)
    history = History(feed, reader, goes_back=wanted.asked.until is not None)
    while feed.advance(_STEP_SECONDS) and shown is not None:
        shown(feed.offset, reader.growth.size())
    feed.advance()
    part = part_of(wanted.asked, feed.session, history.timeline, by_name)
    if isinstance(part, Problem):
        return part
    until = history.timeline.size if part.until is None else part.until
    feed = history.at(until)
    return Exported(
        name=name,
        feed=feed,
        timeline=history.timeline,
        modified_ms=modified_ms,
        start=part.start,
        is_whole=part.start == 0 and feed is history.feed and not wanted.words,
        filter_words=wanted.words,
        matches=call_filter(wanted.words, CallFacts(feed)),
        report=report,
    )
