"""Opens a session for an export: redacts it, and finds the part that is asked for."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

from agentwatch.analysis.moments import Asked, Problem, part_of
from agentwatch.exports.exported import Exported
from agentwatch.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording import LineReader
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.redaction.mask import Masks
from agentwatch.redaction.recording import Progress, redacted
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.filter import call_filter
from agentwatch.wire import Agent

_MOST_SETTLED = 1 << 16
"""The newest calls that stay unpacked, 49 MB: an export visits each call several times, and a comparison of
60,000 calls takes 40 % less CPU."""
_STEP_SECONDS = 0.1
"""The time after which the progress of reading is reported again."""


class Wanted(NamedTuple):
    """Which part of a session is exported, and how."""

    asked: Asked = Asked()
    """The moments between which it lies."""
    words: str = ""
    """Words that select calls, as in the filter of the screen; empty for everything."""
    is_raw: bool = False
    """Whether secrets and personal data stay in."""
    masks: Masks | None = None
    """What makes the masks, if several sessions must have the same; None for those of one session."""


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
        reader, report = copy.reader, copy.report
        by_name = {each: copy.offset_of(offset) for each, offset in by_name.items()}
    feed = Feed(reader, agent)
    feed.session.calls.most_settled = _MOST_SETTLED
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
