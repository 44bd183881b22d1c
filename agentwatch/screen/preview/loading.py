"""Loads a large recording in the background while a preview of it is shown."""

from __future__ import annotations

from time import perf_counter

from agentwatch.feed import Feed
from agentwatch.screen.workspace import Workspace
from agentwatch.text.amounts import byte_size
from agentwatch.text.safe import SafeText

REST_SECONDS = 0.05
_SLICE_SECONDS = 0.03
"""Seconds of work per slice; a key pressed meanwhile waits this long at most. Each slice draws a frame."""
_TYPING_SLICE_SECONDS = 0.015
"""The same while the user types."""
_TYPING_SECONDS = 1.0
"""Seconds after a key in which more keys are expected."""


class Loading:
    """Reads a feed and then lays out the workspace that will show it, one time slice at a time."""

    def __init__(self, feed: Feed, *, shows_thinking: bool) -> None:
        self.feed = feed
        self.workspace: Workspace | None = None
        """The workspace that will replace the preview; None until everything is read."""
        self._shows_thinking = shows_thinking
        self._skips_next = False
        self._typing_until = 0.0

    def advance(self, preview: Workspace) -> Workspace | None:
        """Continue loading for one time slice.

        Args:
            preview: The workspace that shows the preview; its width is used for the layout.

        Returns:
            The workspace that replaces the preview, once it is ready to be shown; None until then.
        """
        seconds = _TYPING_SLICE_SECONDS if perf_counter() < self._typing_until else _SLICE_SECONDS
        self.feed.advance(seconds)
        if self.feed.backlog():
            return None
        if self.workspace is None:
            self.workspace = Workspace(self.feed, shows_thinking=self._shows_thinking)
        width = preview.panes.transcript.scrollable_content_region.width
        if not self.workspace.panes.take(width, seconds):
            return None
        self.workspace.take_over(preview)
        return self.workspace

    def skip_next_slice(self) -> None:
        """Skip the next slice: a key was pressed, and answering it takes two frames."""
        self._skips_next = True
        self._typing_until = perf_counter() + _TYPING_SECONDS

    def take_skip(self) -> bool:
        """Return whether to skip this slice, and clear the request: a held key skips every other slice."""
        skips, self._skips_next = self._skips_next, False
        return skips

    def words(self) -> SafeText:
        """Return how much is left to read, or the percentage that is laid out."""
        if self.workspace is None:
            return SafeText(f"reading · {byte_size(self.feed.backlog())} left")
        return SafeText(f"laying out · {self.workspace.panes.transcript.viewport.taken_percent} %")
