"""Replaces a preview by the whole session without losing a key or moving a line."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from textual import events
from textual.screen import Screen

from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.text.amounts import byte_size
from agentwatch.text.safe import SafeText

_REST_SECONDS = 0.05
_SLICE_SECONDS = 0.03
"""The duration of a slice, and so the longest time that a key waits meanwhile. Each slice draws a frame."""
_TYPING_SLICE_SECONDS = 0.012
_WAIT_SECONDS = 0.01
"""The time between two looks for lines that a process decodes, once all others are laid out."""
_TYPING_SECONDS = 1.0
"""The time after a key in which more keys are expected."""


class PreviewSwap:
    """Loads the whole session in time slices while its preview is shown, and then replaces the preview."""

    def __init__(self, feed: Feed, *, shows_thinking: bool) -> None:
        self.feed = feed
        self.is_loading = True
        self._is_begun = False
        self._workspace: Workspace | None = None
        """The workspace that will replace the preview, once everything is read."""
        self._shows_thinking = shows_thinking
        self._skips_next = False
        """Whether to skip a slice: a key was pressed, and answering it takes two frames."""
        self._typing_until = 0.0
        self._kept_keys: list[events.Key] | None = None
        """The keys pressed while the panes are being replaced; None at any other time."""

    @property
    def is_exchanging(self) -> bool:
        return self._kept_keys is not None

    def words(self) -> SafeText:
        if self._workspace is None or self.feed.backlog():
            return SafeText(f"reading · {byte_size(self.feed.backlog())} left")
        return SafeText(f"laying out · {self._workspace.panes.transcript.viewport.taken_percent} %")

    def load(self, preview: Workspace) -> tuple[float, Workspace | None]:
        """Load for one time slice; return the seconds until the next one, and the workspace once it is ready.
        A held key skips every other slice."""
        if self._skips_next:
            self._skips_next = False
            return _REST_SECONDS, None
        if not self._is_begun:
            from agentwatch.feed.decoding_process import decode_ahead  # which the first frame does not need

            self._is_begun = True
            decode_ahead(self.feed)
        seconds = _TYPING_SLICE_SECONDS if perf_counter() < self._typing_until else _SLICE_SECONDS
        has_more = self.feed.advance(seconds) > 0 and self.feed.backlog() > 0
        if has_more or (self.feed.backlog() and self.feed.ahead is None):
            return 0, None
        if self._workspace is None:
            self._workspace = Workspace(self.feed, shows_thinking=self._shows_thinking)
        width = preview.panes.transcript.scrollable_content_region.width
        is_laid_out = self._workspace.panes.take(width, seconds)
        if self.feed.backlog():  # a process decodes it
            return _WAIT_SECONDS if is_laid_out else 0, None
        if not is_laid_out:
            return 0, None
        self._workspace.take_over(preview)
        self.is_loading, self._kept_keys = False, []
        preview.screen.set_focus(None)  # a key sent to a pane that is then removed would be lost
        return 0, self._workspace

    def end(self) -> None:
        """End what loads the session, because it is not shown any more."""
        if self.feed.ahead is not None:
            self.feed.ahead.end()

    async def exchange(self, screen: Screen[Any], whole: Workspace, on_shown: Callable[[], None]) -> None:
        """Replace the panes, scroll them as the preview was, and send the keys pressed meanwhile again."""
        await screen.recompose()

        def show() -> None:
            whole.restore_from_preview()
            keys, self._kept_keys = self._kept_keys or [], None
            for key in keys:
                again = events.Key(key.key, key.character)
                again.set_sender(screen.app)  # a message that the screen sends to itself does not bubble
                screen.app.post_message(again)
            on_shown()

        screen.call_after_refresh(show)

    def on_key(self, event: events.Key) -> None:
        """Skip the next slice, so that the key is handled soon; keep the key while panes are replaced."""
        if self.is_loading:
            self._skips_next = True
            self._typing_until = perf_counter() + _TYPING_SECONDS
        if self._kept_keys is not None:
            self._kept_keys.append(event)
            event.stop()
