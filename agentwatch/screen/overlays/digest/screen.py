"""The screen with the digest."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.analysis.since.digest import Digest
from agentwatch.analysis.since.mark import Mark
from agentwatch.analysis.since.play import Play, play_missed
from agentwatch.feed import Feed
from agentwatch.feed.timeline import Timeline
from agentwatch.screen.overlays.digest.view import DigestView
from agentwatch.screen.overlays.updating import keep_updated
from agentwatch.session import Call


class DigestScreen(ModalScreen[Call | Play | None]):
    """What happened since a moment.

    It is dismissed with the call that the user opened, with how to play the part since the moment, or with
    None.
    """

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,D", "dismiss", "Back"),
        Binding("enter", "open", "Open"),
        Binding("p", "play", "Play"),
    ]

    def __init__(self, feed: Feed, since: Mark, timeline: Timeline) -> None:
        """Create the screen.

        Args:
            feed: The live feed.
            since: The moment since which things happened.
            timeline: The times of the recording.
        """
        super().__init__(id="digest-screen")
        self._feed = feed
        self._since = since
        self._timeline = timeline
        self._view = DigestView(feed, Digest(feed, since), self._play())

    def compose(self) -> ComposeResult:
        """Show the single view."""
        yield self._view

    def on_mount(self) -> None:
        """Focus the view and start the updates."""
        self._view.border_subtitle = Content("p play · enter open call · esc back")
        self._view.focus()
        keep_updated(self, self.sync)

    def sync(self) -> bool:
        """Update the view for one time slice; return whether more work is left."""
        return self._view.sync()

    def action_open(self) -> None:
        """Close the screen with the selected call; if it is out of view, scroll to it first."""
        if self._view.chosen is not None and not self._view.reveal():
            self.dismiss(self._view.chosen)

    def action_play(self) -> None:
        """Close the screen with how to play the part since the moment; say so if it has no times."""
        play = self._play()
        if play is None:
            self.notify("cannot play: the recording has no times", markup=False)
        else:
            self.dismiss(play)

    def _play(self) -> Play | None:
        return play_missed(self._timeline, self._since.offset, self._feed.offset)
