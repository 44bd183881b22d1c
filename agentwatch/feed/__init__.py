"""Lines of a recording decoded and applied to a session at the reader's pace; the list of saved sessions.

It may import `recording`, `wire`, `session` and `events`.
"""

from agentwatch.feed.feed import POLL_SECONDS, Feed, Pace, Reader
from agentwatch.feed.preview import preview_feed

__all__ = ["POLL_SECONDS", "Feed", "Pace", "Reader", "preview_feed"]
