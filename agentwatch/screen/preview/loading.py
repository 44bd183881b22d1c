"""Reads a large recording while its preview is shown, and prepares the workspace of the whole session."""

from __future__ import annotations

from agentwatch.feed import Feed
from agentwatch.feed.catalog import size
from agentwatch.safe_text import SafeText
from agentwatch.screen.workspace import Workspace

REST_SECONDS = 0.05
_SLICE_SECONDS = 0.015
"""The longest that a key pressed meanwhile waits."""


class Loading:
    """Reads a feed, and then fills the workspace that shows it, a slice of 15 ms at a time."""

    def __init__(self, feed: Feed, *, shows_thinking: bool) -> None:
        self.feed = feed
        self.workspace: Workspace | None = None
        """The workspace that will show it; None until all is read."""
        self._shows_thinking = shows_thinking
        self._is_to_rest = False

    def advance(self, preview: Workspace) -> Workspace | None:
        """Load one slice; return the workspace that replaces `preview` once it is ready, else None."""
        self.feed.advance(_SLICE_SECONDS)
        if self.feed.backlog():
            return None
        if self.workspace is None:
            self.workspace = Workspace(self.feed, shows_thinking=self._shows_thinking)
        width = preview.panes.transcript.scrollable_content_region.width
        if not self.workspace.panes.take(width, _SLICE_SECONDS):
            return None
        self.workspace.take_over(preview)
        return self.workspace

    def make_way(self) -> None:
        """Pause before the next slice, so that a pressed key is answered: that takes two frames."""
        self._is_to_rest = True

    def take_rest(self) -> bool:
        """Return whether to pause now; while a key is held down, only every other slice is put off."""
        is_to_rest, self._is_to_rest = self._is_to_rest, False
        return is_to_rest

    def words(self) -> SafeText:
        """Return how much is left to be read, or to be laid out."""
        if self.workspace is None:
            return SafeText(f"reading · {size(self.feed.backlog())} to go")
        return SafeText(f"laying out · {self.workspace.panes.transcript.viewport.taken_percent} %")
