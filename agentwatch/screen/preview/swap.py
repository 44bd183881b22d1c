"""Replaces a preview by the whole session without losing a key or moving a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.screen import Screen

from agentwatch.feed import Feed
from agentwatch.screen.preview.loading import REST_SECONDS, Loading
from agentwatch.screen.workspace import Workspace
from agentwatch.text.safe import SafeText


class PreviewSwap:
    """Loads the whole session while its preview is shown, and then replaces the preview."""

    def __init__(self, feed: Feed, *, shows_thinking: bool) -> None:
        """Start loading.

        Args:
            feed: Reads the whole recording.
            shows_thinking: Whether to show finished thoughts in full instead of folded.
        """
        self._loading = Loading(feed, shows_thinking=shows_thinking)
        self.feed = feed
        self.is_loading = True
        """Whether the preview is still shown."""
        self._kept_keys: list[events.Key] | None = None
        """The keys pressed while the panes are being replaced; None at any other time."""

    @property
    def is_exchanging(self) -> bool:
        """Whether the panes are being replaced; the new ones have no styles yet."""
        return self._kept_keys is not None

    def words(self) -> SafeText:
        """Return how much is left to read, or the percentage that is laid out."""
        return self._loading.words()

    def load(self, preview: Workspace) -> tuple[float, Workspace | None]:
        """Continue loading for one time slice, or skip one after a key.

        Args:
            preview: The workspace that shows the preview.

        Returns:
            The seconds until the next slice, and the workspace that replaces `preview`; None until it is
            ready.
        """
        if self._loading.take_skip():
            return REST_SECONDS, None
        whole = self._loading.advance(preview)
        if whole is not None:
            self.is_loading, self._kept_keys = False, []
            preview.screen.set_focus(None)  # a key sent to a pane that is then removed would be lost
        return 0, whole

    async def exchange(self, screen: Screen[Any], whole: Workspace, on_shown: Callable[[], None]) -> None:
        """Replace the panes, scroll them as the preview was, and send the keys pressed meanwhile again.

        Args:
            screen: The screen whose panes are replaced; it composes the new ones.
            whole: The workspace of the whole session.
            on_shown: Called when the new panes are shown.
        """
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
            self._loading.skip_next_slice()
        if self._kept_keys is not None:
            self._kept_keys.append(event)
            event.stop()
