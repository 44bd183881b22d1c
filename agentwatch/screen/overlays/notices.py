"""Notices outside the panes: the end of a run, silence, loops, and a summary after an absence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from agentwatch.analysis.away_summary import Mark, away_summary, mark
from agentwatch.analysis.loops import Loops, arguments_of
from agentwatch.config import Config
from agentwatch.feed import Feed
from agentwatch.recording import now_ms
from agentwatch.safe_text import SafeText
from agentwatch.screen.terminal.attention import Attention


class Notices:
    """Alerts the user while another window has the focus, and then summarises what happened meanwhile."""

    def __init__(self, feed: Feed, config: Config, write: Callable[[str], None]) -> None:
        """Create the notices of a session.

        Args:
            feed: The feed of the session.
            config: The user's configuration: bell, desktop notification and title.
            write: Writes a control sequence to the terminal.
        """
        self._feed = feed
        self._attention = Attention(feed, write, config)
        self._loops = Loops(partial(arguments_of, feed))
        self._seen: Mark | None = None

    def update(self, words: SafeText, *, is_quiet: bool) -> list[SafeText]:
        """Update the notices; called once per tick.

        Args:
            words: What is going on, as the status line shows it.
            is_quiet: Whether the silence is longer than tolerated.

        Returns:
            The loop warnings to show; none while an old recording is being read.
        """
        found = self._loops.take(self._feed.session.calls)
        self._attention.update(words, is_quiet=is_quiet)
        return [loop.words() for loop in found] if self._attention.is_watching else []

    def app_blurred(self) -> bool:
        """Record the current state as the start of an absence; return whether one begins now."""
        is_new = self._seen is None
        if is_new:
            self._seen = mark(self._feed.session, now_ms())
        return is_new

    def app_focused(self) -> SafeText:
        """End the absence; return a one-line summary of what happened in it, empty if nothing did."""
        seen, self._seen = self._seen, None
        return SafeText("") if seen is None else away_summary(self._feed.session, seen, now_ms())

    def rest(self) -> None:
        """Restore the terminal's own title."""
        self._attention.give_title_back()
