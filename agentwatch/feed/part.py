"""The part of a recording that is replayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentwatch.analysis.moments import Problem, addressed
from agentwatch.feed.history import History
from agentwatch.feed.playhead import Replay
from agentwatch.safe_text import SafeText

EMPTY = Problem(SafeText("the replay would end at its start, or before it"))


class Part(NamedTuple):
    """A part of a recording."""

    start: int
    """The moment at which it starts, in bytes."""
    until: int | None
    """The moment at which it ends; None for the end of the recording."""


def part_of(history: History, replay: Replay, bookmarks: Mapping[str, int]) -> Part | Problem:
    """Return the part that is replayed of a recording that was read to its end, or why it has no such part.

    Args:
        history: The feed that has read the recording.
        replay: How it is replayed.
        bookmarks: The offset of each bookmark, by its name.
    """
    session, timeline = history.feed.session, history.timeline
    start: int | Problem = 0
    until: int | Problem | None = None
    if replay.begin is not None:
        start = addressed(replay.begin, session, timeline, bookmarks)
    if replay.until is not None:
        until = addressed(replay.until, session, timeline, bookmarks)
    if isinstance(start, Problem):
        return start
    if isinstance(until, Problem):
        return until
    start = timeline.aligned(start)
    until = None if until is None else timeline.aligned(until)
    return EMPTY if until is not None and until <= start else Part(start, until)
