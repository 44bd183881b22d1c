"""Loads a large recording in the background while a preview of it is shown."""

from __future__ import annotations

from agentwatch.byte_size import byte_size
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText
from agentwatch.screen.workspace import Workspace

REST_SECONDS = 0.05
_SLICE_SECONDS = 0.015
"""Seconds of work per slice; a key pressed meanwhile waits this long at most."""


class Loading:
    """Reads a feed and then lays out the workspace that will show it, one time slice at a time."""

    def __init__(self, feed: Feed, *, shows_thinking: bool) -> None:
        self.feed = feed
        self.workspace: Workspace | None = None
        """The workspace that will replace the preview; None until everything is read."""
        self._shows_thinking = shows_thinking
        self._is_to_rest = False

    def advance(self, preview: Workspace) -> Workspace | None:
        """Continue loading for one time slice.

        Args:
            preview: The workspace that shows the preview; its width is used for the layout.

        Returns:
            The workspace that replaces the preview, once it is ready to be shown; None until then.
        """
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
        """Skip the next slice: a key was pressed, and answering it takes two frames."""
        self._is_to_rest = True

    def take_rest(self) -> bool:
        """Return whether to skip this slice, and clear the request: a held key skips every other slice."""
        is_to_rest, self._is_to_rest = self._is_to_rest, False
        return is_to_rest

    def words(self) -> SafeText:
        """Return how much is left to read, or the percentage that is laid out."""
        if self.workspace is None:
            return SafeText(f"reading · {byte_size(self.feed.backlog())} left")
        return SafeText(f"laying out · {self.workspace.panes.transcript.viewport.taken_percent} %")
