"""Bookmarks: the moments of a recording that the user has marked, kept beside the recording."""

from agentwatch.recording.bookmarks.bookmarks import Bookmarks, ends_a_line
from agentwatch.recording.bookmarks.file import Bookmark

__all__ = ["Bookmark", "Bookmarks", "ends_a_line"]
