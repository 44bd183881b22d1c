"""The selected call, which all panes mark, and a failure that the detail shows in its place."""

from __future__ import annotations

from agentwatch.feed import Feed
from agentwatch.screen.calls.new_failures import NewFailures
from agentwatch.screen.panes import Panes
from agentwatch.session import Call


class Selection:
    """Decides which call the detail shows.

    It is the selected call of the calls pane. While the newest calls are followed, a call that fails stays in
    the detail until the user selects another call or releases it.
    """

    def __init__(self, feed: Feed, panes: Panes) -> None:
        self._panes = panes
        self._failures = NewFailures(feed, feed.reader.growth.size())
        self._held: Call | None = None
        """The last call that failed while the newest calls were followed; its detail stays open."""

    def show(self, feed: Feed) -> None:
        """Show another moment of the same session. A failure before it is not shown in the detail."""
        self._failures = NewFailures(feed, feed.offset)
        self._held = None
        chosen = self._panes.calls.chosen
        if chosen is not None:
            self._panes.detail.show_call(chosen)
        self._panes.mark_calls(None)

    def go_on(self, feed: Feed) -> None:
        """Show the moment of the same session to which it has played.

        A failure stays in the detail, unless the call has not ended yet at that moment.
        """
        self._failures.go_on(feed)
        held, calls = self._held, feed.session.calls
        if held is not None:
            call = calls[held.number - 1] if held.number <= len(calls) else None
            self._held = None if call is None or call.ended is None else call
        shown = self._held or self._panes.calls.chosen
        if shown is not None:
            self._panes.detail.show_call(shown)
        self._panes.mark_calls(self._held)

    def sync(self) -> None:
        """Show the detail of a call that has failed while the newest calls are followed, and mark its row."""
        calls, detail = self._panes.calls, self._panes.detail
        failure = self._failures.newest()
        if failure is not None and calls.following:
            self._held = failure
            detail.show_call(failure)
        if self._held is not None and self._held is detail.call:
            detail.show_call(self._held, is_held=self._held is not calls.chosen)
        self._panes.mark_calls(self._held)

    def follow(self, call: Call) -> None:
        """Show the detail of a call that was selected, unless a failure is held while calls are followed."""
        if self._held is None or not self._panes.calls.following:
            self._held = None
            self._panes.detail.show_call(call)
        self._panes.mark_calls(self._held)

    def release(self) -> bool:
        """Show the selected call in the detail instead of a failure; return whether there was a failure."""
        held, self._held = self._held, None
        if held is None:
            return False
        if self._panes.calls.chosen is not None:
            self._panes.detail.show_call(self._panes.calls.chosen)
        self._panes.mark_calls(None)
        return held is not self._panes.calls.chosen

    def step(self, step: int) -> None:
        """Select the call after (1) or before (-1) the one that the detail shows; folds open."""
        calls, shown = self._panes.calls, self._panes.detail.call
        self._held = None
        if shown is not None:
            calls.choose_call(shown)
        calls.choose_beside(step)
        if calls.chosen is not None:
            self._panes.detail.show_call(calls.chosen)
        self._panes.mark_calls(None)
