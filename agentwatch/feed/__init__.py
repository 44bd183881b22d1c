"""The feed, which decodes the lines of a recording and applies them to a session; the list of saved sessions.

This folder may import `recording`, `wire`, `session`, `blocks`, `events` and `text`.
"""

from agentwatch.agents import Agent
from agentwatch.feed.feed import POLL_SECONDS, Feed, Reader

__all__ = ["POLL_SECONDS", "Agent", "Feed", "Reader"]
