"""Judges a session by rules while it is read, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from agentwatch.agents import Decoder
from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.verdict_history import State as Tests
from agentwatch.analysis.verdict_history import final_verdicts
from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import RUN_FIELDS
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.check.kinds import Amount, Fact, Forbid, Limit, Require, Rule, Severity
from agentwatch.rules.language.conditions import Partly, Readers
from agentwatch.session.actions import action
from agentwatch.session.call import Call, Pieces, Place
from agentwatch.session.counts import known_sum
from agentwatch.session.events import Outcome
from agentwatch.session.runs import Run
from agentwatch.session.session import Session, calls_by_outcome, own_calls
from agentwatch.text.amounts import dollars, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText

MOST_VIOLATIONS = 100
"""The number of places that are kept for a rule. All places are counted."""


class State(StrEnum):
    HOLDS = "holds"
    BROKEN = "broken"
    SKIPPED = "skipped"
    """The rule does not apply: a run that failed has no result to compare with its text."""
    UNKNOWN = "not judged"
    """The recording does not contain the values that the rule needs."""


class Violation(NamedTuple):
    at: str
    """The suffix of the recording's address: `#12`, `@+95s`."""
    words: SafeText
    """The call as a line of the text format, or what happened."""

    @classmethod
    def by(cls, call: Call) -> Violation:
        return cls(f"#{call.number}", action(call))


class Judgement(NamedTuple):
    rule: Rule
    state: State
    words: SafeText
    """The reason in a few words: `2 calls`, `7 failed`, `no calls`."""
    looked_at: int = 0
    """The number of calls that could be judged; for a rule about the session, 1 or 0."""
    hits: int = 0
    """The number of places at which the rule is broken."""
    places: Sequence[Violation] = ()
    not_judged: int = 0
    """The number of calls for which a deciding value is unknown."""
    unknown: Mapping[str, int] = MappingProxyType({})
    """The number of these calls in which a field is unknown, by the field."""
    value: float | None = None
    """The amount that a limit limits: a number, milliseconds, US dollars or a percentage; None if unknown."""

    @property
    def is_error(self) -> bool:
        return self.state is State.BROKEN and self.rule.severity is Severity.ERROR

    @property
    def is_warning(self) -> bool:
        return self.state is State.BROKEN and self.rule.severity is Severity.WARNING


class Checked(NamedTuple):
    address: str
    judgements: Sequence[Judgement]
    calls: int
    format: str | None
    seconds: float
    """The time for reading and judging, in seconds."""
    is_live: bool = False
    """Whether the recording is still being written, and was checked up to its present end."""


def is_misused(blind_rules: Iterable[Judgement]) -> bool:
    """Return whether one of the rules that had nothing to check is not a warning."""
    return any(each.rule.severity is Severity.ERROR for each in blind_rules)


def partly_judged(checked: Sequence[Checked]) -> list[Judgement]:
    """Return the rules that could judge only some of the calls, each with the first such recording."""
    return [
        partial[0]
        for judgements in zip(*(each.judgements for each in checked), strict=True)
        if (partial := [each for each in judgements if each.not_judged and each.state is not State.UNKNOWN])
    ]


def blind(checked: Sequence[Checked]) -> list[Judgement]:
    """Return the rules that could be judged in no recording, each with why not in the first of them."""
    return [
        judgements[0]
        for judgements in zip(*(each.judgements for each in checked), strict=True)
        if all(each.state is State.UNKNOWN for each in judgements)
    ]


_OUTCOMES = {Amount.FAILED: Outcome.FAILED, Amount.REJECTED: Outcome.REJECTED}
_SAYS_NOTHING = (Outcome.RETURNED, Outcome.UNFINISHED)
_NO_TIMES = "no line has a time"
_NOT_SAID = {
    Amount.COST: "the agent does not report the cost",
    Amount.TOKENS: "the agent does not report tokens",
    Amount.CONTEXT: "the agent does not report the size of its context",
    Amount.ELAPSED: _NO_TIMES,
    Amount.IDLE: _NO_TIMES,
}


class _Limited:
    """A limit of one session. `silences` are those longer than the limit of `idle`; otherwise None."""

    def __init__(self, rule: Limit, facts: CallFacts, silences: _LongestSilence | None) -> None:
        self._rule = rule
        self._facts = facts
        self._silences = silences
        self._amount = rule.amount
        judges: dict[Amount, Callable[[Call], None]] = dict.fromkeys(_OUTCOMES, self._see_outcome)
        judges |= {Amount.CALL: self._see_duration, Amount.CONTEXT: self._see_context}
        self.judge = judges.get(self._amount)
        """Adds a call that has ended, or that can no longer end; None if the limit needs no calls."""
        self._calls = self._known = self._hits = 0
        self._places: list[Violation] = []
        self._most: float | None = None

    def _see_outcome(self, call: Call) -> None:
        self._calls += 1
        outcome = call.outcome
        if outcome is Outcome.SUCCEEDED:
            self._known += 1
            return
        self._known += outcome not in _SAYS_NOTHING
        if outcome is _OUTCOMES[self._amount]:
            self._note(call)

    def _see_duration(self, call: Call) -> None:
        self._calls += 1
        took = self._took_ms(call)
        if took is not None:
            self._known += 1
            self._most = max(took, self._most or 0)
            if took > self._rule.most:
                self._note(call)

    def _see_context(self, _call: Call | None = None) -> None:
        if (percent := self._facts.context_percent) is not None:
            self._most = max(percent, self._most or 0)

    def judgement(self) -> Judgement:
        session = self._facts.session
        value, reason = self._value(session)
        if value is None:
            return Judgement(
                self._rule, State.UNKNOWN, SafeText(reason), not_judged=self._calls - self._known
            )
        words = SafeText(_amount_words(self._amount, value))
        if value <= self._rule.most:
            return Judgement(self._rule, State.HOLDS, words, 1, value=value)
        places: Sequence[Violation] = self._places
        hits = int(value) if self._amount in _OUTCOMES else self._hits
        if self._amount is Amount.CALLS:
            first = int(self._rule.most)
            places, hits = (
                [Violation.by(each) for each in session.calls[first : first + MOST_VIOLATIONS]],
                int(value) - first,
            )
        elif self._silences is not None:
            places, hits = self._silences.hits, self._silences.count
        return Judgement(self._rule, State.BROKEN, words, 1, max(hits, 1), places, value=value)

    def _value(self, session: Session) -> tuple[float | None, str]:
        """Return the amount; None and the reason if the amount is unknown."""
        not_said = _NOT_SAID.get(self._amount, "")
        if self._amount is Amount.CALLS:
            return own_calls(session), ""
        if (outcome := _OUTCOMES.get(self._amount)) is not None:
            if self._calls and not self._known and calls_by_outcome(session).get(Outcome.RETURNED):
                return None, "the recording does not show whether calls succeeded"
            return calls_by_outcome(session).get(outcome, 0), ""
        if self._amount is Amount.CALL:
            reason = "the duration of no call is known" if self._calls else "no calls"
            return self._most, reason
        if self._amount is Amount.IDLE and self._silences is not None:
            return (self._silences.longest_ms, "") if self._silences.timed_lines > 1 else (None, not_said)
        if self._amount is Amount.ELAPSED:
            return session.duration_ms, not_said
        if self._amount is Amount.CONTEXT:
            self._see_context()
            return self._most, not_said
        tokens = session.tokens
        is_cost = self._amount is Amount.COST
        return tokens.cost_usd if is_cost else known_sum((tokens.input, tokens.output)), not_said

    def _note(self, call: Call) -> None:
        self._hits += 1
        if len(self._places) < MOST_VIOLATIONS:
            self._places.append(Violation.by(call))

    def _took_ms(self, call: Call) -> float | None:
        """Return how long a call took; None if unknown. For a call that never ended, the time until the last
        line counts if it already exceeds the limit."""
        took = self._facts.duration_ms(call)
        last_ms = self._facts.session.last_seen_ms
        if took is not None or call.ended is not None or call.started is None or last_ms is None:
            return took
        ran = None if call.started.seen_ms is None else last_ms - call.started.seen_ms
        return ran if ran is not None and ran > self._rule.most else None


def _amount_words(amount: Amount, value: float) -> str:
    shape: dict[Amount, Callable[[float], str]] = {
        Amount.CALLS: lambda value: plural(int(value), "call"),
        Amount.FAILED: lambda value: f"{value:,.0f} failed",
        Amount.REJECTED: lambda value: f"{value:.0f} rejected",
        Amount.CALL: lambda value: f"longest {duration_words(value)}",
        Amount.IDLE: lambda value: f"longest {duration_words(value)}",
        Amount.ELAPSED: duration_words,
        Amount.COST: dollars,
        Amount.TOKENS: lambda value: f"{value:,.0f} tokens",
        Amount.CONTEXT: lambda value: f"{value:.0f} %",
    }
    return shape[amount](value)


class _LongestSilence:
    """The longest silence between the lines of a session, by arrival times or else by the agent's times.
    Silence while a call runs is not counted. Neither is silence before a prompt, or while the agent waits for
    a permission. Silences longer than `most_ms` are hits."""

    def __init__(self, session: Session, most_ms: float) -> None:
        self._session = session
        self._most_ms = most_ms
        self.longest_ms = 0
        self.timed_lines = 0
        """The number of lines with a time. With fewer than two, no silence is known."""
        self.count = 0
        self.hits: list[Violation] = []
        self._noted_ms = 0.0
        """A silence that is not longer is neither the longest one nor too long."""
        self._began_ms: int | None = None
        self._quiet_since: int | None = None
        """The time of the last line; None while something explains a silence."""
        self._run: Run | None = None
        self._turns = 0
        self._ended = 0

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        session, seen_ms = self._session, place.seen_ms
        run = session.runs[-1] if session.runs else None
        turns = 0 if run is None else len(run.turn_starts)
        if turns != self._turns or run is not self._run:
            self._run, self._turns, self._quiet_since = run, turns, None  # the user was silent
        if not session.traits.announces_calls and len(session.ended_calls) != self._ended:
            self._ended, self._quiet_since = len(session.ended_calls), None  # a call ran: it is one line
        if seen_ms is not None:
            self.timed_lines += 1
            if self._began_ms is None:
                self._began_ms = seen_ms if pieces is None else pieces.first_ms
            if self._quiet_since is not None:
                first_ms = seen_ms if pieces is None else pieces.first_ms
                if first_ms - self._quiet_since > self._noted_ms:
                    self._note(first_ms - self._quiet_since, first_ms)
                if pieces is not None and pieces.longest_gap_ms > self._noted_ms:
                    self._note(pieces.longest_gap_ms, seen_ms)
            self._quiet_since = seen_ms
        is_over = run is not None and run.outcome is not Outcome.RUNNING
        is_before_prompt = not turns and not session.traits.has_result  # in an agent's own file
        if session.open_calls or session.questions.by_key or is_over or is_before_prompt:
            self._quiet_since = None

    def _note(self, silence_ms: int, until_ms: int) -> None:
        self.longest_ms = max(self.longest_ms, silence_ms)
        self._noted_ms = min(self.longest_ms, self._most_ms)
        if silence_ms > self._most_ms:
            self.count += 1
            if len(self.hits) < MOST_VIOLATIONS:
                since_ms = until_ms - silence_ms - (self._began_ms or 0)
                at = f"@+{max(since_ms, 0) // 1000}s"
                self.hits.append(Violation(at, SafeText(f"silence of {duration_words(silence_ms)}")))


_AT_ONCE = 64
"""The number of ended calls judged together: 31,000 calls take 0.52 s, or 0.78 s one by one."""
_NUMBERS_OF_RUN = frozenset(field.name for field in RUN_FIELDS)


class Judge:
    """Judges the calls that have ended, and the session at its end. It observes the feed."""

    def __init__(self, feed: Feed, rules: Sequence[Rule]) -> None:
        self._feed = feed
        self._rules = rules
        self._judged = 0
        self._facts = facts = CallFacts(feed)
        readers = call_readers(facts)
        idle = next(
            (rule.most for rule in rules if isinstance(rule, Limit) and rule.amount is Amount.IDLE), None
        )
        self._silences = None if idle is None else _LongestSilence(feed.session, idle)
        self._forbidden: dict[int, _Forbidden] = {}
        self._limited: dict[int, _Limited] = {}
        for index, rule in enumerate(rules):
            if isinstance(rule, Forbid):
                self._forbidden[index] = _Forbidden(rule, readers)
            elif isinstance(rule, Limit):
                silences = self._silences if rule.amount is Amount.IDLE else None
                self._limited[index] = _Limited(rule, facts, silences)
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
        self._judge_ended()
        self._judge_last_acts()
        return [self._judgement(index, rule) for index, rule in enumerate(self._rules)]

    def _judge_last_acts(self) -> None:
        """Judge the last call again if the user has acted after it, when no call follows."""
        if not (calls := self._feed.session.calls) or not self._feed.acts:
            return
        found = [(each, each.test(calls[-1])) for each in self._forbidden.values() if each.has_acts]
        self._facts.is_over = True
        for each, before in found:
            if each.test(calls[-1]) and not before:
                each.add(calls[-1], is_known=True)

    def _judgement(self, index: int, rule: Rule) -> Judgement:
        if isinstance(rule, Require):
            return required(rule, self._feed)
        if isinstance(rule, Forbid):
            return self._forbidden[index].judgement(self._judged)
        return self._limited[index].judgement()

    def _judge_ended(self) -> None:
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
    """Return whether a rule depends on the session as it is when a call ends, and not only on the call."""
    if isinstance(rule, Forbid):
        return not rule.condition.fields.isdisjoint(_NUMBERS_OF_RUN)
    return isinstance(rule, Limit) and rule.amount is Amount.CONTEXT


class _Forbidden:
    """A rule about calls, bound to one session."""

    def __init__(self, rule: Forbid, readers: Readers[Call]) -> None:
        self.test = rule.condition.bind(readers)
        """Returns whether a call matches; None if that is unknown."""
        self.has_acts = "acted" in rule.condition.fields
        """Whether what the user did after the last call matters too."""
        self._rule = rule
        self._readers = {
            name: readers.values[name] for name in sorted(rule.condition.fields) if name in readers.values
        }
        self._hits = self._not_judged = 0
        self._places: list[Violation] = []
        self._unknown: Counter[str] = Counter()

    def add(self, call: Call, *, is_known: bool) -> None:
        if is_known:
            self._hits += 1
            if len(self._places) < MOST_VIOLATIONS:
                self._places.append(Violation.by(call))
        else:
            self._not_judged += 1
            unknown = (name for name, read in self._readers.items() if isinstance(read(call), Partly | None))
            self._unknown.update(unknown)

    def judgement(self, calls: int) -> Judgement:
        """Return the judgement, after `calls` calls have ended."""
        looked_at = calls - self._not_judged
        state, words = State.HOLDS, SafeText("no call")
        if self._hits:
            state, words = State.BROKEN, SafeText(plural(self._hits, "call"))
        elif not looked_at:
            state, words = State.UNKNOWN, _unknown_words(self._unknown, self._not_judged)
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


def _unknown_words(unknown: Counter[str], calls: int) -> SafeText:
    """Return why no call could be judged: `no calls`, `exit is unknown in all 12 calls`."""
    if not calls:
        return SafeText("no calls")
    names = " and ".join(name for name, _ in unknown.most_common()) or "a field"
    verb = "are" if len(unknown) > 1 else "is"
    return SafeText(f"{names} {verb} unknown in {'the only call' if calls == 1 else f'all {calls:,} calls'}")


def required(rule: Require, feed: Feed) -> Judgement:
    """Return the judgement on a fact about a session that was read to its end."""
    if rule.fact is Fact.TESTS:
        return _tests(rule, feed)
    if rule.fact is Fact.RESULT:
        state, words = _result(feed.session)
    elif rule.fact is Fact.ACTED:
        state, words = _acted(rule, feed)
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


def _acted(rule: Require, feed: Feed) -> tuple[State, str]:
    if feed.acts_of is None:
        return State.UNKNOWN, "what the user did is recorded on the machine of the session"
    count = sum(each.act == rule.act for each in feed.acts)
    return (State.HOLDS, plural(count, "act")) if count else (State.BROKEN, "no act is recorded")


def _integrity(session: Session) -> tuple[State, str]:
    """Judge the lines and the calls. Whether text and result differ is another fact."""
    found = integrity(session).without_text()
    return State.HOLDS if found.passes else State.BROKEN, found.words()


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
