"""Loads a large recording in the background while a preview of it is shown."""

from __future__ import annotations

from agentwatch.byte_size import byte_size
from agentwatch.feed import Feed
from agentwatch.feed.index.index import Index
from agentwatch.safe_text import SafeText
from agentwatch.screen.workspace import Workspace

REST_SECONDS = 0.05
_SLICE_SECONDS = 0.015
"""Seconds of work per slice; a key pressed meanwhile waits this long at most."""


class Loading:
    """Reads a feed and then lays out the workspace that will show it, one time slice at a time."""

    def __init__(self, feed: Feed, *, shows_thinking: bool, index: Index | None = None) -> None:
        self.feed = feed
        self.workspace: Workspace | None = None
        """The workspace that will replace the preview; None until everything is read."""
        self._shows_thinking = shows_thinking
        self._index = index
        """Keeps what is read and laid out; None if nothing is kept."""
        self._skips_next = False

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
        if self._index is not None:
            self._index.keep(self.workspace.panes.layout, self.feed.session)
        self.workspace.take_over(preview)
        return self.workspace

    def skip_next_slice(self) -> None:
        """Skip the next slice: a key was pressed, and answering it takes two frames."""
        self._skips_next = True

    def take_skip(self) -> bool:
        """Return whether to skip this slice, and clear the request: a held key skips every other slice."""
        skips, self._skips_next = self._skips_next, False
        return skips

    def words(self) -> SafeText:
        """Return how much is left to read, or the percentage that is laid out."""
        if self.workspace is None:
            return SafeText(f"reading · {byte_size(self.feed.backlog())} left")
        return SafeText(f"laying out · {self.workspace.panes.transcript.viewport.taken_percent} %")
