"""Lines decoded and applied to a session, at the reader's own pace."""

from agentwatch.feed.feed import POLL_SECONDS, Feed, Pace, Reader
from agentwatch.feed.preview import preview_feed

__all__ = ["POLL_SECONDS", "Feed", "Pace", "Reader", "preview_feed"]
