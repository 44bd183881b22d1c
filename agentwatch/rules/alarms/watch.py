"""Judges the calls and the run of a session by rules while the session grows, and announces the hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, cast

from agentwatch.analysis.silence import silence_ms
from agentwatch.feed.feed import Feed
from agentwatch.recording.alarms import Alarm
from agentwatch.rules.alarms.tripwire import Action, Tripwire
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.language.conditions import Test
from agentwatch.session.actions import brief_action, target
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.session import CallChanges, Phase
from agentwatch.text.safe import SafeText

_MOST_CHANGES = 1024
_MOST_OPEN = 256
"""Open calls that are judged again at each update: one rule takes 1 ms for them."""


_COOLDOWN_MS = 10_000
"""A rule is announced at most once in this time, in milliseconds."""
_NO_CALL = cast("Call", None)
"""The fields of the run are read without a call."""


class Hit(NamedTuple):
    """A rule that was hit, by a call or by the run so far."""

    tripwire: Tripwire
    offset: int
    """The moment: the number of bytes of the recording before the hit."""
    call: int | None = None
    words: SafeText = SafeText("")
    """The call as a phrase with its target: `Ran terminal command rm -rf /tmp/x`."""
    command: str | None = None


class Watch:
    """The rules that watch one session. A rule about calls is hit once by a call: when the stream announces
    it, or later, when the call changes or ends. A rule about the run is hit when it becomes true, and again
    only after it was false."""

    def __init__(self, feed: Feed, tripwires: Sequence[Tripwire]) -> None:
        """Watch a session, of which nothing is judged yet. The caller advances the feed."""
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
        """Judge new and running calls and the run; return the rules that were hit. While the agent is paused,
        no time passes for the rules."""
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

    def alarm(self, hit: Hit, at_ms: int, action: Action, *, is_last: bool = False) -> Alarm:
        """Return the alarm of a hit, with its place in the action log. The hit must be the newest: later
        lines would change the place. `action` is what was done, which is not the action of the rule if the
        agent could not be paused. `is_last` says whether later hits of the rule are not noted."""
        session = self._feed.session
        return Alarm(
            offset=hit.offset,
            at_ms=at_ms,
            call=hit.call,
            ended=len(session.ended_calls),
            said=len(session.questions.history),
            run=len(session.runs),
            action=action.value,
            rule=hit.tripwire.name,
            words=hit.words,
            is_last=is_last,
        )

    def _judge(self, call: Call) -> list[Hit]:
        hits = []
        is_open = call.outcome is Outcome.RUNNING
        for rule in self._of_calls:
            if call.number in rule.hit_by or (is_open and rule.waits_for_end) or not rule.test(call):
                continue
            rule.hit_by.add(call.number)
            place = call.ended or call.started
            offset = self._feed.offset if place is None else place.offset + place.length + 1
            words = SafeText(f"{brief_action(call)} {target(call)}".rstrip())
            hit = Hit(rule.tripwire, min(offset, self._feed.offset), call.number, words, call.command)
            hits.append(hit)
        return hits

    def _silence_ms(self) -> int | None:
        """Return the present silence; None while a call, a question or the end of the run explains it."""
        session = self._feed.session
        if session.phase in (Phase.CALLING, Phase.NOTHING) or session.questions or self._agent.asks:
            return None
        return silence_ms(session, self._facts.now_ms, self._agent)


class _CallRule:
    """A rule about calls, and the calls that have hit it."""

    def __init__(self, each: Tripwire, test: Test[Call]) -> None:
        self.tripwire = each
        self.test = test
        self.waits_for_end = each.waits_for_end
        self.hit_by: set[int] = set()


@dataclass
class _RunRule:
    """A rule about the run, and whether it was true at the last update."""

    tripwire: Tripwire
    test: Test[Call]
    is_true: bool = False


class Announcement(NamedTuple):
    alarm: Alarm
    more: int = 0
    """The number of other alarms of the rule since its last announcement."""


class Cooldown:
    """Counts the hits of rules that were announced a short time ago."""

    def __init__(self) -> None:
        self._announced: dict[tuple[str, str], int] = {}
        """The time of each rule's last announcement in milliseconds, by its name and its action."""
        self._waiting: dict[tuple[str, str], tuple[Alarm, int]] = {}
        """The newest hit and the number of the others, by the rule that has waiting hits."""

    def add(self, alarm: Alarm) -> Announcement | None:
        """Return the announcement of a hit; None if it has to wait."""
        key = alarm.rule, alarm.action
        now_ms, last_ms = alarm.at_ms, self._announced.get(key)
        if last_ms is not None and 0 <= now_ms - last_ms < _COOLDOWN_MS:
            _, more = self._waiting.get(key, (alarm, -1))
            self._waiting[key] = (alarm, more + 1)
            return None
        self._announced[key] = now_ms
        _, more = self._waiting.pop(key, (alarm, -1))
        return Announcement(alarm, more + 1)

    def due(self, now_ms: int, *, is_over: bool = False) -> list[Announcement]:
        """Return the announcements that are due; at the end of the session, all that wait."""
        found = []
        for key, (alarm, more) in list(self._waiting.items()):
            if is_over or not 0 <= now_ms - self._announced[key] < _COOLDOWN_MS:
                del self._waiting[key]
                self._announced[key] = now_ms
                found.append(Announcement(alarm, more))
        return found
