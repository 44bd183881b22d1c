"""Judges a session by rules while it is read, in one pass."""

from __future__ import annotations

from collections.abc import Sequence

from agentwatch.analysis.call_fields import RUN_FIELDS, CallFacts, call_readers
from agentwatch.checking.forbidden import Forbidden
from agentwatch.checking.judgement import Judgement
from agentwatch.checking.limits import Limited
from agentwatch.checking.longest_silence import LongestSilence
from agentwatch.checking.required import required
from agentwatch.checking.rules import Amount, Forbid, Limit, Require, Rule
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.session import Pieces, Place, Session
from agentwatch.wire import Decoder

_AT_ONCE = 64
"""The number of ended calls that are judged at once. One by one, 31,000 calls take 0.78 s
instead of 0.52 s."""
_NUMBERS_OF_RUN = frozenset(field.name for field in RUN_FIELDS)


class Judge:
    """Judges the calls that have ended, and the session at its end. It observes the feed."""

    def __init__(self, feed: Feed, rules: Sequence[Rule]) -> None:
        """Begin to judge the session of a feed, of which nothing was read yet.

        Args:
            feed: Reads the session. A line without an arrival time gets the agent's time.
            rules: The rules.
        """
        self.began_ms: int | None = None
        """The time of the first line that has one."""
        self._feed = feed
        self._rules = rules
        self._judged = 0
        facts = CallFacts(feed)
        readers = call_readers(facts)
        idle = next(
            (rule.most for rule in rules if isinstance(rule, Limit) and rule.amount is Amount.IDLE), None
        )
        self._silences = None if idle is None else LongestSilence(feed.session, idle)
        self._forbidden: dict[int, Forbidden] = {}
        self._limited: dict[int, Limited] = {}
        for index, rule in enumerate(rules):
            if isinstance(rule, Forbid):
                self._forbidden[index] = Forbidden(rule, readers)
            elif isinstance(rule, Limit):
                silences = self._silences if rule.amount is Amount.IDLE else None
                self._limited[index] = Limited(rule, facts, silences, lambda: self.began_ms)
        self._tests = [(each.test, each) for each in self._forbidden.values()]
        self._judges = [each.judge for each in self._limited.values() if each.judge is not None]
        self._at_once = 1 if any(map(_needs_moment, rules)) else _AT_ONCE
        self._runs = 0
        feed.takes_agent_times = True
        feed.observer = self

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """Judge the calls that have ended: when they are enough, and at the end of their run."""
        if self._silences is not None:
            self._silences.applied(place, pieces)
        if self.began_ms is None:
            self.began_ms = place.seen_ms if pieces is None else pieces.first_ms
        session = self._feed.session
        if (waiting := len(session.ended_calls) - self._judged) and (
            waiting >= self._at_once
            or session.runs[-1].outcome is not Outcome.RUNNING
            or len(session.runs) != self._runs
        ):
            self._judge_ended()

    def paused(self, _offset: int, _session: Session, _decoder: Decoder) -> None:
        """Do nothing."""

    def judgements(self) -> list[Judgement]:
        """Return the judgements of all rules. The feed is over."""
        self._judge_ended()
        return [self._judgement(index, rule) for index, rule in enumerate(self._rules)]

    def _judgement(self, index: int, rule: Rule) -> Judgement:
        if isinstance(rule, Require):
            return required(rule, self._feed)
        if isinstance(rule, Forbid):
            return self._forbidden[index].judgement(self._judged)
        return self._limited[index].judgement()

    def _judge_ended(self) -> None:
        """Judge the calls that have ended since."""
        session = self._feed.session
        self._runs = len(session.runs)
        while self._judged < len(session.ended_calls):
            calls = session.ended_calls[self._judged : self._judged + _AT_ONCE]
            self._judged += len(calls)
            for call in calls:
                for test, forbidden in self._tests:
                    if (found := test(call)) is not False:
                        forbidden.add(call, is_known=found is not None)
                for judge in self._judges:
                    judge(call)


def _needs_moment(rule: Rule) -> bool:
    """Return whether a rule looks at the session as it is when a call ends, and not only at the call."""
    if isinstance(rule, Forbid):
        return not rule.condition.fields.isdisjoint(_NUMBERS_OF_RUN)
    return isinstance(rule, Limit) and rule.amount is Amount.CONTEXT
