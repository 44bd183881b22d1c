"""Notices outside the panes: the end of a run, silence, loops, and a summary after an absence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from agentwatch.analysis.loops import Loops, arguments_of
from agentwatch.analysis.unread_counts import Mark, mark
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.recording.acts import Act, act_words, index_after
from agentwatch.screen.terminal.attention import Attention
from agentwatch.session.agent_process import AgentFacts
from agentwatch.sources.source import AlarmWatch
from agentwatch.text.safe import SafeText

_LONG_MS = 5 * 60_000
"""The least absence after which the summary offers a digest."""
_MOST_TOASTS = 3
_GREETING = SafeText(
    "rules watch this session: an alarm, not a sandbox: a call that hits one may run already"
)


class Notices:
    """Alerts the user while another window has the focus, and then summarises what happened meanwhile."""

    def __init__(
        self, feed: Feed, config: Config, write: Callable[[str], None], watch: AlarmWatch | None = None
    ) -> None:
        self._feed = feed
        self._watch = watch
        self._has_greeted = False
        self._acts: Sequence[Act] | None = None
        self._attention = Attention(feed, write, config)
        self._loops = Loops(partial(arguments_of, feed))
        self._absent_from: Mark | None = None
        self.missed: Mark | None = None
        """The start of the last absence of 5 minutes or more in which something happened."""

    def update(self, words: SafeText, facts: AgentFacts, *, is_quiet: bool) -> list[SafeText]:
        """Return the messages to show, once per tick: hits of rules, acts of the user, and loop warnings
        unless an old recording is read. `is_quiet`: the silence is longer than tolerated."""
        found = self._loops.update(self._feed.session.calls)
        self._attention.update(words, is_quiet=is_quiet, is_paused=bool(facts.paused_by))
        warnings = [loop.words() for loop in found] if self._attention.is_watching else []
        return [*self._hits(), *warnings, *self._new_acts()]

    def _new_acts(self) -> list[SafeText]:
        acts, before = self._feed.acts, self._acts
        self._acts = acts
        if before is None or before is acts:
            return []
        new = acts[index_after(acts, before[-1] if before else None) :]
        return [act_words(each) for each in new[-_MOST_TOASTS:]]

    def _hits(self) -> list[SafeText]:
        if self._watch is None:
            return []
        toasts = [_GREETING] if self._watch.has_rules and not self._has_greeted else []
        self._has_greeted = True
        for news in self._watch.take_news():
            self._attention.alarm(news.words, rings=news.action != "note", notes=news.action != "bell")
            toasts.append(news.words)
        return toasts

    def app_blurred(self) -> bool:
        """Record the current state as the start of an absence; return whether one begins now."""
        is_new = self._absent_from is None
        if is_new:
            self._absent_from = mark(self._feed.session, self._feed.offset, now_ms())
        return is_new

    def app_focused(self, digest_key: str = "") -> SafeText:
        """End the absence; return a line about what happened, which after 5 minutes offers `digest_key`."""
        start, self._absent_from = self._absent_from, None
        if start is None:
            return SafeText("")
        from agentwatch.analysis.unread import away_summary

        now = now_ms()
        summary = away_summary(self._feed.session, start, now)
        if not summary or start.at_ms is None or now - start.at_ms < _LONG_MS:
            return summary
        self.missed = start
        return SafeText(f"{summary} · {digest_key}: what happened") if digest_key else summary

    def rest(self) -> None:
        self._attention.give_title_back()
