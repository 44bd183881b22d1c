"""Opens a recording with its index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentwatch.feed.feed import Feed
from agentwatch.feed.index.index import Index, Restored, index_of
from agentwatch.recording import LineReader


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a recording."""

    index: Index | None = None
    """Keeps what will be read; None if the recording has no index."""
    restored: Restored | None = None
    """What the index contains; None if there was none that fits."""
    layout: Any = None
    """What the screen laid out; None if it cannot be used."""


NOTHING_KEPT = Kept()


def open_kept(feed: Feed, reader: LineReader) -> Kept:
    """Let a feed that has read nothing continue where the index of its recording ends.

    If the recording has ended and has not grown since, the feed is over.
    """
    index = index_of(feed, reader)
    restored = None if index is None else index.restored()
    if restored is None:
        return Kept(index)
    reader.start_at(restored.checkpoint.offset)
    feed.continue_from(restored.checkpoint)
    if not restored.is_whole or not reader.growth.has_ended():
        return Kept(index, restored)
    feed.advance()
    return Kept(index, restored, restored.layout(feed.session))
