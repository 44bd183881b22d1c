"""Judges the calls and the run of a session by rules while the session grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, cast

from agentwatch.actions import brief_action, target
from agentwatch.agent_facts import NO_FACTS, AgentFacts
from agentwatch.analysis.call_fields import CallFacts, call_readers
from agentwatch.analysis.silence import silence_ms
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.feed.call_changes import CallChanges
from agentwatch.rules import Test
from agentwatch.session import Call, Phase
from agentwatch.text.safe import SafeText
from agentwatch.tripwires.tripwire import Tripwire

_MOST_CHANGES = 1024
_MOST_OPEN = 256
"""Open calls that are judged again at each update: one rule takes 1 ms for them."""


class Hit(NamedTuple):
    """A rule that was hit, by a call or by the run so far."""

    tripwire: Tripwire
    offset: int
    """The moment: the number of bytes of the recording before the hit."""
    call: int | None = None
    """The number of the call; None for a rule about the run."""
    words: SafeText = SafeText("")
    """The call as a phrase with its target: `Ran terminal command rm -rf /tmp/x`."""


class Tripwires:
    """The rules that watch one session.

    A rule about calls is hit once by a call: when the stream announces it, or later, when the call changes
    or ends. A rule about the run is hit when it becomes true, and again only after it was false.
    """

    def __init__(self, feed: Feed, tripwires: Sequence[Tripwire]) -> None:
        """Watch a session, of which nothing is judged yet.

        Args:
            feed: Reads the session; it is advanced by the caller.
            tripwires: The rules.
        """
        self._feed = feed
        self._facts = CallFacts(feed)
        self._changes = CallChanges(feed.session)
        self._agent = NO_FACTS
        readers = call_readers(self._facts)
        of_run = replace(readers, values={**readers.values, "idle": lambda _call: self._silence_ms()})
        self._of_calls = [
            _CallRule(each, each.condition.bind(readers)) for each in tripwires if not each.is_about_run
        ]
        self._of_run = [
            _RunRule(each, each.condition.bind(of_run)) for each in tripwires if each.is_about_run
        ]

    def skip(self) -> None:
        """Mark the present contents of the session as judged, so that only new calls hit a rule."""
        self._changes.skip(len(self._feed.session.calls))
        for call in islice(self._feed.session.open_calls.values(), _MOST_OPEN):
            for rule in self._of_calls:
                rule.hit_by.add(call.number)
        self._facts.now_ms = self._feed.session.last_seen_ms
        for each in self._of_run:
            each.is_true = each.test(_NO_CALL) is True

    def update(self, now_ms: int | None, agent: AgentFacts = NO_FACTS) -> list[Hit]:
        """Judge new and running calls and the run; return the rules that were hit.

        Args:
            now_ms: The present time, in milliseconds since the epoch.
            agent: The facts about the agent's process. While it is paused, no time passes for the rules.
        """
        self._agent = agent
        is_paused = bool(agent.paused_by) or agent.is_stopped
        if not is_paused:
            self._facts.now_ms = now_ms
        hits: list[Hit] = []
        while changed := self._changes.take(_MOST_CHANGES):
            for index in changed:
                hits += self._judge(self._feed.session.calls[index])
        if is_paused:
            return hits
        for call in list(islice(self._feed.session.open_calls.values(), _MOST_OPEN)):
            hits += self._judge(call)
        for each in self._of_run:
            was_true, each.is_true = each.is_true, each.test(_NO_CALL) is True
            if each.is_true and not was_true:
                hits.append(Hit(each.tripwire, self._feed.offset))
        return hits

    def _judge(self, call: Call) -> list[Hit]:
        """Return the rules that a call hits for the first time."""
        hits = []
        is_open = call.outcome is Outcome.RUNNING
        for rule in self._of_calls:
            if call.number in rule.hit_by or (is_open and rule.waits_for_end) or not rule.test(call):
                continue
            rule.hit_by.add(call.number)
            place = call.ended or call.started
            offset = self._feed.offset if place is None else place.offset + place.length + 1
            words = SafeText(f"{brief_action(call)} {target(call)}".rstrip())
            hits.append(Hit(rule.tripwire, min(offset, self._feed.offset), call.number, words))
        return hits

    def _silence_ms(self) -> int | None:
        """Return the present silence; None while a call, a question or the end of the run explains it."""
        session = self._feed.session
        if session.phase in (Phase.CALLING, Phase.NOTHING) or session.asked or self._agent.asks:
            return None
        return silence_ms(session, self._facts.now_ms, self._agent)


class _CallRule:
    """A rule about calls, and the calls that have hit it."""

    def __init__(self, each: Tripwire, test: Test[Call]) -> None:
        self.tripwire = each
        self.test = test
        self.waits_for_end = each.waits_for_end
        self.hit_by: set[int] = set()


class _RunRule:
    """A rule about the run, and whether it was true at the last update."""

    def __init__(self, each: Tripwire, test: Test[Call]) -> None:
        self.tripwire = each
        self.test = test
        self.is_true = False


_NO_CALL = cast("Call", None)
"""The fields of the run are read without a call."""
