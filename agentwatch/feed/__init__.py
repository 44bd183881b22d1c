"""The feed, which decodes the lines of a recording and applies them to a session; the list of saved sessions.

This folder may import `recording`, `wire`, `session`, `blocks`, `events` and `text`.
"""

from agentwatch.feed.feed import POLL_SECONDS, Feed, Reader
from agentwatch.wire import Agent

__all__ = ["POLL_SECONDS", "Agent", "Feed", "Reader"]
