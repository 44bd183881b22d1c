"""The four panes of a session, updated together."""

from __future__ import annotations

from agentwatch.feed import Feed
from agentwatch.screen.calls.log_pane import ActionLogView
from agentwatch.screen.calls.pane import CallTable
from agentwatch.screen.detail.pane import DetailView
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.preview.matching import same_call
from agentwatch.screen.transcript.pane import Transcript
from agentwatch.session import Call
from agentwatch.text.safe import SafeText

_NEWEST_SECONDS = 0.004
NAMES = ("transcript", "calls", "detail", "log")


class Panes:
    """Transcript, calls, detail and log, available as attributes and by name."""

    def __init__(self, feed: Feed, *, is_preview: bool = False) -> None:
        """Create the panes of a session.

        Args:
            feed: Reads the recording.
            is_preview: Whether the session is only a part of the recording; calls then have no numbers.
        """
        self.has_numbers = not is_preview
        """Whether the numbers of the calls are those of the whole recording."""
        self.transcript = Transcript(feed.session)
        self.transcript.viewport.renderer.has_numbers = self.has_numbers
        self.calls = CallTable(feed, has_numbers=self.has_numbers)
        self.detail = DetailView(feed)
        self.log = ActionLogView(feed.session)
        self.session = feed.session
        """The session at the moment that is shown."""
        self._synced_calls = (0, 0, 0)

    def show(self, feed: Feed) -> None:
        """Show another moment of the same session."""
        session = self.session = feed.session
        self._synced_calls = (len(session.calls), len(session.ended_calls), len(session.open_calls))
        self.transcript.show(session)
        self.calls.show(session)
        self.detail.show(feed)
        self.log.show(session)

    def follow(self, chosen: int | None) -> None:
        """Show the end of a moment to which the user has moved, and select its last call.

        Args:
            chosen: The number of the call to select instead; None for the last one.
        """
        self.transcript.action_bottom()
        self.calls.follow_moment()
        LineView.action_bottom(self.log)  # its own action would select the call of the last action
        if chosen is not None and chosen <= len(self.session.calls):
            self.calls.choose_call(self.session.calls[chosen - 1])

    def take_newest(self) -> None:
        """Prepare the panes for the newest moment, for some milliseconds, while an earlier one is shown."""
        self.transcript.viewport.take_newest(_NEWEST_SECONDS)
        if self.calls.newest is not self.calls.listed:
            self.calls.newest.take(_NEWEST_SECONDS)

    def named(self, name: str) -> LineView:
        """Return the pane with a name from `NAMES`."""
        return (self.transcript, self.calls, self.detail, self.log)[NAMES.index(name)]

    def take(self, width: int, seconds: float) -> bool:
        """Process a part of the session before the panes are shown.

        Args:
            width: The width that the transcript will have, in columns.
            seconds: The approximate time limit.

        Returns:
            Whether the whole session is processed.
        """
        width = max(width - self.transcript.times.columns, 1)
        return self.transcript.viewport.take(width, seconds) and self.calls.listed.take(seconds)

    def restore_from_preview(self, preview: Panes) -> None:
        """Show what the panes of a preview of the same session show, each line in the same row."""
        before, calls = preview.calls, self.calls
        call = None if before.chosen is None else same_call(self.session.calls, before.chosen)
        if call is not None and not before.following:
            calls.choose_call(call)
            calls.following = False
            calls.settle_at(calls.cursor - before.cursor + before.scroll_offset.y)
        if preview.detail.is_raw:
            self.detail.toggle_raw()
        position = self.transcript.reader.same_position(preview.transcript.reader)
        if position is not None:
            self.transcript.restore(position)

    def sync(self, now_ms: int | None) -> None:
        """Update the panes; calls and detail are redrawn only if a call has changed.

        Args:
            now_ms: The session's current time, in ms since the epoch; None if it is unknown.
        """
        session = self.session
        calls = (len(session.calls), len(session.ended_calls), len(session.open_calls))
        are_calls_new, self._synced_calls = calls != self._synced_calls, calls
        self.transcript.sync(are_calls_new=are_calls_new)
        if are_calls_new:
            self.calls.sync(now_ms)
        is_running = self.detail.call is not None and self.detail.call.ended is None
        if are_calls_new or is_running:  # the output of a running call may grow
            self.detail.sync()
        self.log.sync()

    def mark_calls(self, held: Call | None) -> None:
        """Mark the call that is selected in the calls pane, in all panes alike.

        Args:
            held: The failed call whose detail stays open while the newest calls are followed.
        """
        chosen = self.calls.chosen
        self.transcript.mark_calls(chosen, held)
        self.log.mark_calls(chosen, held)
        self.calls.held = held

    def copied(self, name: str) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in a pane, in a few words, and its text.

        The text has no newline at its end, with which a shell would run it as soon as it is pasted.
        """
        panes = (self.transcript, self.calls, self.detail, self.log)
        what, text = panes[NAMES.index(name)].copied()
        return what, SafeText(text.rstrip("\n"))
