"""Lines decoded and applied to a session, at the reader's own pace."""

from agentwatch.feed.feed import POLL_SECONDS, Feed, Pace, Reader

__all__ = ["POLL_SECONDS", "Feed", "Pace", "Reader"]
