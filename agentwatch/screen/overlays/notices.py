"""What the user is told beside the panes: the end of a run, a stall, a loop, what came meanwhile."""

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
    """Calls the user where they look away, and tells once what they have missed."""

    def __init__(self, feed: Feed, config: Config, write: Callable[[str], None]) -> None:
        """Look at the session of `feed`; `write` brings a control sequence of ours to the terminal."""
        self._feed = feed
        self._attention = Attention(feed, write, config)
        self._loops = Loops(partial(arguments_of, feed))
        self._seen: Mark | None = None

    def update(self, words: SafeText, *, is_quiet: bool) -> list[SafeText]:
        """Take how the session stands, once a tick; return the warnings that are to be shown."""
        found = self._loops.take(self._feed.session.calls)
        self._attention.update(words, is_quiet=is_quiet)
        return [loop.words() for loop in found] if self._attention.is_watching else []

    def app_blurred(self) -> bool:
        """Remember how far it had come; return whether the user has only now looked away."""
        is_new = self._seen is None
        if is_new:
            self._seen = mark(self._feed.session, now_ms())
        return is_new

    def app_focused(self) -> SafeText:
        """Return in a line what came since the user looked away; empty when nothing did."""
        seen, self._seen = self._seen, None
        return SafeText("") if seen is None else away_summary(self._feed.session, seen, now_ms())

    def rest(self) -> None:
        """Let the terminal have its title again."""
        self._attention.give_title_back()
