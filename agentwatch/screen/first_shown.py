"""What the screen of a session shows at first: the whole session, or a preview until the whole is read."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.feed import Feed
from agentwatch.feed.preview import preview_feed
from agentwatch.session import keep_few
from agentwatch.sources.source import Source

_LARGE_BYTES = 8 << 20
"""A saved recording that is larger than this is shown as a preview until it is read."""
_MOST_SETTLED, _MOST_ENDED = 32_768, 24_576
"""The calls and texts of such a recording that stay unpacked: 49 MB. 1 GB loads with 4 % less CPU."""


class FirstShown(NamedTuple):
    """What a screen shows at first."""

    feed: Feed
    """Reads the session that is shown; with `loading`, only a preview of it."""
    loading: Feed | None = None
    """Reads the whole recording, which replaces the preview; None if `feed` reads all of it."""


def first_shown(source: Source, feed: Feed, *, is_replayed: bool = False) -> FirstShown:
    """Return what is shown of a recording at first: of a large saved one, a preview of its head and tail.

    Args:
        source: Where the recording comes from.
        feed: Reads the recording, and has read nothing yet.
        is_replayed: Whether the recording is replayed. A replay begins with what is read first.
    """
    keep_few(feed.session)
    if feed.backlog() <= _LARGE_BYTES or is_replayed or source.wakeup is not None:
        return FirstShown(feed)
    session = feed.session
    session.calls.most_settled, session.transcript.most_ended = _MOST_SETTLED, _MOST_ENDED
    return FirstShown(preview_feed(source.reader, feed.agent), feed)
