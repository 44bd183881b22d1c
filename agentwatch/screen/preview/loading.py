"""A large recording that is read while a glimpse of it is shown, and made ready to be shown whole."""

from __future__ import annotations

from agentwatch.feed import Feed
from agentwatch.feed.catalog import size
from agentwatch.safe_text import SafeText
from agentwatch.screen.workspace import Workspace

REST_SECONDS = 0.05
_SLICE_SECONDS = 0.015
"""A key that is pressed meanwhile waits so long."""


class Loading:
    """Reads a feed, and then makes the workspace that shows it, a slice at a time."""

    def __init__(self, feed: Feed, *, shows_thinking: bool) -> None:
        self.feed = feed
        self.workspace: Workspace | None = None
        """What will show it; None until all is read."""
        self._shows_thinking = shows_thinking
        self._is_to_rest = False

    def advance(self, preview: Workspace) -> Workspace | None:
        """Go on; return what is to take the place of the glimpse once it is ready to be shown."""
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
        """Rest once before the next slice: a key was pressed, and is answered by two frames."""
        self._is_to_rest = True

    def take_rest(self) -> bool:
        """Return whether it is time for a rest; while a key is held down every other time it is not."""
        is_to_rest, self._is_to_rest = self._is_to_rest, False
        return is_to_rest

    def words(self) -> SafeText:
        """Return how much is left to be read, or to be laid out."""
        if self.workspace is None:
            return SafeText(f"reading · {size(self.feed.backlog())} to go")
        return SafeText(f"laying out · {self.workspace.panes.transcript.viewport.taken_percent} %")
