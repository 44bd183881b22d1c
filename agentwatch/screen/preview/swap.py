"""The exchange of a preview for the whole session, which loses no key and moves no line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.screen import Screen

from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText
from agentwatch.screen.preview.loading import REST_SECONDS, Loading
from agentwatch.screen.workspace import Workspace


class PreviewSwap:
    """Loads the whole session behind its preview, then shows it there."""

    def __init__(self, feed: Feed, *, shows_thinking: bool) -> None:
        """Load `feed`, which reads the whole recording."""
        self._loading = Loading(feed, shows_thinking=shows_thinking)
        self.feed = feed
        self.is_loading = True
        """Whether the preview is still shown, and nothing has taken its place."""
        self._kept_keys: list[events.Key] | None = None
        """The keys pressed while the panes are exchanged; None at any other time."""

    @property
    def is_exchanging(self) -> bool:
        """Whether the panes are being exchanged: the new ones have no styles yet."""
        return self._kept_keys is not None

    def words(self) -> SafeText:
        """Return how much is left to be read, or to be laid out."""
        return self._loading.words()

    def load(self, preview: Workspace) -> tuple[float, Workspace | None]:
        """Load for a few milliseconds.

        Returns:
            In how many seconds to load on, and what takes the place of `preview` once all is ready.
        """
        if self._loading.take_rest():
            return REST_SECONDS, None
        whole = self._loading.advance(preview)
        if whole is not None:
            self.is_loading, self._kept_keys = False, []
            preview.screen.set_focus(None)  # a pane that is removed would take its key with it
        return 0, whole

    async def exchange(self, screen: Screen[Any], whole: Workspace, go_on: Callable[[], None]) -> None:
        """Show the whole session as the preview was shown, and act on the keys pressed meanwhile.

        Args:
            screen: The screen whose panes are exchanged; it composes the new ones.
            whole: The workspace of the whole session.
            go_on: Called when the new panes are shown.
        """
        await screen.recompose()

        def show() -> None:
            whole.restore_from_preview()
            keys, self._kept_keys = self._kept_keys or [], None
            for key in keys:
                again = events.Key(key.key, key.character)
                again.set_sender(screen.app)  # a message that the screen sends to itself does not bubble
                screen.app.post_message(again)
            go_on()

        screen.call_after_refresh(show)

    def on_key(self, event: events.Key) -> None:
        """Answer a key before more is loaded; keep it while the panes are exchanged."""
        if self.is_loading:
            self._loading.make_way()
        if self._kept_keys is not None:
            self._kept_keys.append(event)
            event.stop()
