"""What the view itself does: replay, stand still, catch up; and the time that it shows."""

from __future__ import annotations

from collections.abc import Sequence

from agentwatch.byte_size import byte_size
from agentwatch.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.recording import now_ms
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.sources.source import Source
from agentwatch.sources.survivors import Survivor

BEHIND_BYTES = 1 << 18
"""With so much of the recording still to be read, reading comes before drawing."""


def shown_ms(feed: Feed, *, is_frozen: bool) -> int | None:
    """Return the time that it is for the session; it stands still where nothing more will come."""
    if isinstance(feed.pace, Replay):
        return feed.pace.now_ms()
    if is_frozen or feed.reader.growth.has_ended():
        return feed.session.last_seen_ms
    return now_ms()


def view_words(
    source: Source, feed: Feed, survivors: Sequence[Survivor], *, is_frozen: bool, below: int
) -> SafeText:
    """Return in words what the view does besides showing the session; often nothing.

    Args:
        source: Where the bytes come from.
        feed: How far they are read.
        survivors: What our agent has started and left behind.
        is_frozen: The user holds the view still.
        below: How many lines have come below the view, where the pane itself does not tell it.
    """
    words = []
    words += [what.upper() for what, why in source.faults.items() if why is not None]
    ended = feed.session.run.ended
    if ended is not None and source.outlives(ended.seen_ms):
        words.append(f"process {source.agent_pid} still running (q to stop)")
    if survivors:
        named = ", ".join(f"{survivor.pid} {safe_line(survivor.name)}" for survivor in survivors[:2])
        more = f" and {len(survivors) - 2} more" if len(survivors) > 2 else ""
        words.append(f"still running: {named}{more} (q to stop)")
    if is_frozen:
        words.append(f"frozen · {byte_size(feed.backlog())} behind")
    elif feed.pace is None and feed.backlog() > BEHIND_BYTES:
        words.append(f"reading · {byte_size(feed.backlog())} left")
    if isinstance(feed.pace, Replay) and not feed.is_over:
        words.append(f"{'paused' if feed.pace.is_paused else 'replay'} ×{feed.pace.speed:g}")
    if below:
        words.append(f"{below} new below ▾")
    return SafeText(" · ".join(words))
