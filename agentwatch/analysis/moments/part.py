"""The moments of a recording that the command line names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

from agentwatch.analysis.moments.addressed import addressed
from agentwatch.analysis.moments.words import Moment, Problem
from agentwatch.feed.timeline import Timeline
from agentwatch.session import Session
from agentwatch.text.safe import SafeText

EMPTY = Problem(SafeText("the part would end at its start, or before it"))


class Lines(Timeline, Protocol):
    """The times of a recording, and its line ends."""

    def aligned(self, offset: int) -> int:
        """Return the last line end at or before an offset."""


class Asked(NamedTuple):
    """What the command line asks of the moment."""

    begin: Moment | None = None
    """Where the screen opens, or where a replay starts; None for the live moment, or for the start."""
    until: Moment | None = None
    """Where a replay ends; None for the end of the recording."""
    pauses_on: Literal["failure", "bookmark"] | None = None
    """At what a replay pauses."""


NOTHING_ASKED = Asked()


class Part(NamedTuple):
    """A part of a recording."""

    start: int
    """The moment at which it starts, in bytes."""
    until: int | None
    """The moment at which it ends; None for the end of the recording."""


def part_of(asked: Asked, session: Session, timeline: Lines, bookmarks: Mapping[str, int]) -> Part | Problem:
    """Return the part that is asked of a recording, or why the recording has no such part.

    Args:
        asked: The moments.
        session: The session, whose recording was read to its end.
        timeline: The times of the recording.
        bookmarks: The offset of each bookmark, by its name.
    """
    start: int | Problem = 0
    until: int | Problem | None = None
    if asked.begin is not None:
        start = addressed(asked.begin, session, timeline, bookmarks)
    if asked.until is not None:
        until = addressed(asked.until, session, timeline, bookmarks)
    if isinstance(start, Problem):
        return start
    if isinstance(until, Problem):
        return until
    start = timeline.aligned(start)
    until = None if until is None else timeline.aligned(until)
    return EMPTY if until is not None and until <= start else Part(start, until)
