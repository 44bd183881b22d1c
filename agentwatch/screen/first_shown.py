"""What the screen of a session shows at first: the whole session, or a preview until the whole is read."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.feed import Feed
from agentwatch.feed.index.kept import NOTHING_KEPT, Kept, open_kept
from agentwatch.feed.preview import preview_feed
from agentwatch.sources.source import Source

_LARGE_BYTES = 8 << 20
"""A saved recording that is larger than this is shown as a preview until it is read."""


class FirstShown(NamedTuple):
    """What a screen shows at first."""

    feed: Feed
    """Reads the session that is shown; with `loading`, only a preview of it."""
    loading: Feed | None = None
    """Reads the whole recording, which replaces the preview; None if `feed` reads all of it."""
    kept: Kept = NOTHING_KEPT
    """What is kept of the recording."""


def first_shown(source: Source, feed: Feed, *, is_replayed: bool = False) -> FirstShown:
    """Return what is shown of a recording at first: of a large saved one, a preview of its head and tail.

    A recording with an index needs no preview: it is shown whole.

    Args:
        source: Where the recording comes from.
        feed: Reads the recording, and has read nothing yet.
        is_replayed: Whether the recording is replayed. A replay begins with what is read first.
    """
    feed.session.keep_few()
    is_logged = source.written.log is not None  # a log is written while every line is read
    kept = NOTHING_KEPT if is_logged else open_kept(feed, source.reader)
    is_large = feed.backlog() > _LARGE_BYTES or (kept.restored is not None and kept.layout is None)
    if not is_large or is_replayed or source.wakeup is not None:
        return FirstShown(feed, None, kept)
    return FirstShown(preview_feed(source.reader, feed.agent), feed, kept)
