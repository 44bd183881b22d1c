"""The state of the view (replaying, frozen, catching up), and the time that it shows."""

from __future__ import annotations

from collections.abc import Sequence

from agentwatch.byte_size import byte_size
from agentwatch.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.plurals import plural
from agentwatch.recording import now_ms
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.sources.source import Source
from agentwatch.sources.started.survivors import Survivor

BEHIND_BYTES = 1 << 18
"""If more bytes than this are unread, reading has priority over drawing."""


def shown_ms(feed: Feed, *, is_frozen: bool) -> int | None:
    """Return the session's current time, in ms since the epoch; None if no time is known.

    In a frozen view and in a complete recording, it is the time of the last line.
    """
    if isinstance(feed.pace, Replay):
        return feed.pace.now_ms()
    if is_frozen or feed.reader.growth.has_ended():
        return feed.session.last_seen_ms
    return now_ms()


def freeze_words(feed: Feed, *, is_frozen: bool) -> str:
    """Return what the key that freezes the view does now: `Freeze`, `Pause`, `Resume`, or nothing."""
    if isinstance(feed.pace, Replay):
        return "" if feed.is_over else "Resume" if feed.pace.is_paused else "Pause"
    if is_frozen:
        return "Resume"
    return "" if feed.is_over else "Freeze"


def view_words(
    source: Source, feed: Feed, survivors: Sequence[Survivor], *, is_frozen: bool, below: int
) -> SafeText:
    """Return the state of the view for the status line, and what needs attention; usually empty.

    Args:
        source: Where the recording comes from; it reports its faults.
        feed: Reads the recording; it reports how much is unread.
        survivors: The processes that the agent started and that outlived it.
        is_frozen: The user has frozen the view.
        below: The number of new lines below the viewport; 0 if the pane's border shows it.
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
    if held := feed.held_lines:
        words.append(f"{plural(held, 'line')} of no known agent yet")
    if isinstance(feed.pace, Replay) and not feed.is_over:
        words.append(f"{'paused' if feed.pace.is_paused else 'replay'} ×{feed.pace.speed:g}")
    if below:
        words.append(f"{below} new below ▾")
    return SafeText(" · ".join(words))
