"""Judges a session by rules while it is read, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentwatch.agents import Decoder
from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.verdict_history import State as Tests
from agentwatch.analysis.verdict_history import final_verdicts
from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import RUN_FIELDS
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.check.judgement import MOST_VIOLATIONS, Judgement, State, Violation
from agentwatch.rules.check.kinds import Amount, Fact, Forbid, Limit, Require, Rule
from agentwatch.rules.check.limits import Limited, LongestSilence
from agentwatch.rules.language.conditions import Readers
from agentwatch.session.call import Call, Pieces, Place
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText

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


class Forbidden:
    """A rule about calls, bound to one session."""

    def __init__(self, rule: Forbid, readers: Readers[Call]) -> None:
        self.test = rule.condition.bind(readers)
        """Returns whether a call matches; None if that is unknown."""
        self._rule = rule
        self._readers = {
            name: readers.values[name] for name in sorted(rule.condition.fields) if name in readers.values
        }
        self._hits = self._not_judged = 0
        self._places: list[Violation] = []
        self._unknown: Counter[str] = Counter()

    def add(self, call: Call, *, is_known: bool) -> None:
        """Count a call that matches, or one for which the result is unknown.

        Args:
            call: The call, which has ended or can no longer end.
            is_known: Whether it matches.
        """
        if is_known:
            self._hits += 1
            if len(self._places) < MOST_VIOLATIONS:
                self._places.append(Violation.by(call))
        else:
            self._not_judged += 1
            self._unknown.update(name for name, read in self._readers.items() if read(call) is None)

    def judgement(self, calls: int) -> Judgement:
        """Return the judgement, after `calls` calls have ended."""
        looked_at = calls - self._not_judged
        state, words = State.HOLDS, SafeText("no call")
        if self._hits:
            state, words = State.BROKEN, SafeText(plural(self._hits, "call"))
        elif not looked_at:
            state, words = State.UNKNOWN, unknown_words(self._unknown, self._not_judged)
        return Judgement(
            self._rule,
            state,
            words,
            looked_at=looked_at,
            hits=self._hits,
            places=self._places,
            not_judged=self._not_judged,
            unknown=self._unknown,
        )


def unknown_words(unknown: Counter[str], calls: int) -> SafeText:
    """Return why no call could be judged: `no calls`, `exit is unknown in all 12 calls`."""
    if not calls:
        return SafeText("no calls")
    names = " and ".join(name for name, _ in unknown.most_common()) or "a field"
    verb = "are" if len(unknown) > 1 else "is"
    return SafeText(f"{names} {verb} unknown in {'the only call' if calls == 1 else f'all {calls} calls'}")


def required(rule: Require, feed: Feed) -> Judgement:
    """Return the judgement on a fact about a session that was read to its end."""
    if rule.fact is Fact.TESTS:
        return _tests(rule, feed)
    if rule.fact is Fact.RESULT:
        state, words = _result(feed.session)
    elif rule.fact is Fact.INTEGRITY:
        state, words = _integrity(feed.session)
    else:
        state, words = _text(feed.session)
    is_known = state in (State.HOLDS, State.BROKEN)
    return Judgement(rule, state, SafeText(words), int(is_known), int(state is State.BROKEN))


def _result(session: Session) -> tuple[State, str]:
    outcome = session.outcome
    if outcome is Outcome.SUCCEEDED:
        return State.HOLDS, "succeeded"
    if not session.traits.has_result and outcome not in (Outcome.FAILED, Outcome.CANCELLED):
        return State.UNKNOWN, "this format has no result line"
    return State.BROKEN, "no result" if outcome in (Outcome.UNFINISHED, Outcome.RUNNING) else f"{outcome}"


def _integrity(session: Session) -> tuple[State, str]:
    """Judge the lines and the calls. Whether text and result differ is another fact."""
    found = integrity(session).without_text().problems()
    return (State.BROKEN, found) if found else (State.HOLDS, "nothing is missing or malformed")


def _text(session: Session) -> tuple[State, str]:
    matches = session.run.text_matches_result
    if matches is not None:
        return (State.HOLDS, "text = result") if matches else (State.BROKEN, "text ≠ result")
    if session.outcome is Outcome.SUCCEEDED or not session.traits.has_result:
        return State.UNKNOWN, "no result line with a text to compare"
    return State.SKIPPED, "no result to compare"


def _tests(rule: Require, feed: Feed) -> Judgement:
    """Judge the last verdicts. A session without a verdict is not green."""
    found = final_verdicts(feed)
    if found.state is Tests.GREEN:
        return Judgement(rule, State.HOLDS, SafeText("green"), len(found.commands))
    wrong = [each for each in found.commands if each.state is not Tests.GREEN]
    places = [Violation.by(each.call) for each in wrong]
    words = f"{found.state}" if found.commands else "no test, linter or build has a verdict"
    return Judgement(rule, State.BROKEN, SafeText(words), len(found.commands), max(len(wrong), 1), places)
