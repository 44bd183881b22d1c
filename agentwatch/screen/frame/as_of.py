"""The name of a moment, and how far it is behind the live end, for the header."""

from __future__ import annotations

from agentwatch.analysis.since.words import behind_words
from agentwatch.feed.timeline import Timeline
from agentwatch.safe_text import SafeText
from agentwatch.screen.lines.format import time_of_day
from agentwatch.session import Session


def moment_name(timeline: Timeline, offset: int) -> SafeText:
    """Return the name of a moment: its time of day, or without a time its share of the bytes, `62 %`."""
    at_ms = timeline.ms_at(offset)
    if at_ms is not None:
        return SafeText(time_of_day(at_ms))
    return SafeText(f"{100 * offset // max(timeline.size, 1)} %")


def as_of(shown: Session, live: Session, timeline: Timeline, offset: int, width: int) -> SafeText:
    """Return how far an earlier moment is behind the live end, in the longest form that fits.

    Args:
        shown: The session as it was at the moment.
        live: The live session.
        timeline: The times of the recording.
        offset: The moment, as a number of bytes.
        width: The columns that are free.
    """
    return behind_words(shown, live, moment_name(timeline, offset), width)
