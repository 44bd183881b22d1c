"""The kinds of rules: `forbid` of calls, `require` and `limit` of the whole session."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from agentwatch.recording.acts import ACT_NAMES
from agentwatch.rules.calls.fields import LIVE
from agentwatch.rules.language.conditions import Condition
from agentwatch.rules.language.errors import RuleError, did_you_mean
from agentwatch.rules.language.parser import parse
from agentwatch.rules.language.vocabulary import Measure, number

_MOST_NUMBER = 1e15
_MOST_SHOWN = 60
_SHOWN_VALUE = 40
_VALUES: Mapping[str, object] = {"true": True, "false": False}
_Made = TypeVar("_Made")


class Severity(StrEnum):
    """The effect of a broken rule on the exit code."""

    ERROR = "error"
    WARNING = "warning"
    """It is reported, and does not change the exit code."""


class Fact(StrEnum):
    """The facts that `require` can demand of a session."""

    RESULT = "result"
    """The last run ended with a result that is not an error."""
    INTEGRITY = "integrity"
    """Nothing in the recording is orphaned or malformed."""
    TEXT = "text_matches_result"
    """The streamed text equals the text of the result."""
    TESTS = "tests"
    """The last verdict of each command is green, and no file changed after it."""
    ACTED = "acted"
    """The user did something through agentwatch: `acted:allow`."""


class Amount(StrEnum):
    """The amounts that `limit` can limit."""

    CALLS = "calls"
    FAILED = "failed"
    REJECTED = "rejected"
    CALL = "call"
    """The longest call."""
    IDLE = "idle"
    """The longest silence that no running call explains."""
    ELAPSED = "elapsed"
    """From the first line to the last."""
    COST = "cost"
    """In US dollars."""
    TOKENS = "tokens"
    """Input and output."""
    CONTEXT = "context"
    """How full the model's context was at most."""


_MEASURES: Mapping[Amount, Measure] = {
    **dict.fromkeys(Amount, Measure.COUNT),
    **dict.fromkeys((Amount.CALL, Amount.IDLE, Amount.ELAPSED), Measure.DURATION),
    Amount.CONTEXT: Measure.PERCENT,
}
_EXAMPLES = {Measure.COUNT: "5", Measure.DURATION: "10m", Measure.PERCENT: "80%"}
_DEMANDED = {**dict.fromkeys(Fact, "true"), Fact.TESTS: '"green"'}


class Forbid(NamedTuple):
    """A rule that no call may match."""

    name: str
    when: str
    """The rule in the language of rules."""
    condition: Condition
    severity: Severity = Severity.ERROR


class Require(NamedTuple):
    """A fact that must be true at the end."""

    fact: Fact
    severity: Severity = Severity.ERROR
    act: str = ""
    """What the user did, for `acted`."""

    @property
    def name(self) -> str:
        """The rule as an entry of a file."""
        return f"require.{self.fact} = {shown(self.act) if self.act else _DEMANDED[self.fact]}"


class Limit(NamedTuple):
    """The most that an amount may be."""

    amount: Amount
    most: float
    """A number, milliseconds, US dollars or a percentage."""
    words: str
    """The limit as the user wrote it: `10m`."""
    severity: Severity = Severity.ERROR

    @property
    def name(self) -> str:
        """The rule as an entry of a file."""
        return f"limit.{self.amount} = {self.words}"


Rule: TypeAlias = Forbid | Require | Limit


def forbid(
    when: str, name: str = "", severity: Severity = Severity.ERROR, *, allows_patterns: bool = False
) -> Forbid:
    """Return a rule about calls. `name` is the rule itself if empty. `allows_patterns` says whether the rule
    may contain regular expressions, as in files. Raise `RuleError` if the rule cannot be read."""
    return Forbid(name or when, when, parse(when, LIVE, allows_patterns=allows_patterns), severity)


def require(key: str, value: object, severity: Severity = Severity.ERROR) -> Require | None:
    """Return a rule about the end of a session; None if the value is false. `value` is `True`, `False`,
    `"green"` of the tests, or the act for `acted`. Raise `RuleError` if there is no such fact, or it has
    another value."""
    fact = _member(Fact, key)
    if value is False:
        return None
    if fact is Fact.ACTED:
        if not isinstance(value, str) or value not in ACT_NAMES:
            raise RuleError(f"{key} is one of {', '.join(ACT_NAMES)}, not {shown(value)}")
        return Require(fact, severity, value)
    if fact is Fact.TESTS:
        if value != "green":
            raise RuleError(f'{key} is "green", not {shown(value)}')
    elif value is not True:
        raise RuleError(f"{key} is true or false, not {shown(value)}")
    return Require(fact, severity)


def limit(key: str, value: object, severity: Severity = Severity.ERROR) -> Limit:
    """Return a limit; `value` is a number, or as text a number with its unit. Raise `RuleError` otherwise."""
    amount = _member(Amount, key)
    measure = _MEASURES[amount]
    if isinstance(value, str):
        words = value[:_MOST_SHOWN]
        return Limit(amount, number(words, measure, key), words, severity)
    if type(value) in (int, float) and measure is not Measure.DURATION:
        assert isinstance(value, int | float)
        if math.isfinite(value) and 0 <= value <= _MOST_NUMBER:
            return Limit(amount, float(value), f"{value}", severity)
    example = _EXAMPLES[measure] if measure is Measure.COUNT else shown(_EXAMPLES[measure])
    raise RuleError(f"{key} is written like {example}, not {shown(value)}")


def by_options(forbids: Sequence[str], requires: Sequence[str], limits: Sequence[str]) -> list[Rule]:
    """Return the rules of options: `tests=green`, `failed=5`. The reason of a `RuleError` names the
    option."""
    rules: list[Rule] = [_by_option("--forbid", words, forbid) for words in forbids]
    found = [_by_option("--require", words, _required) for words in requires]
    rules += [rule for rule in found if rule is not None]
    rules += [_by_option("--limit", words, _limited) for words in limits]
    return rules


def _by_option(option: str, words: str, make: Callable[[str], _Made]) -> _Made:
    try:
        return make(words)
    except RuleError as error:
        raise RuleError(f"{option} {shown(words)}: {error.reason}", error.at) from None


def _required(words: str) -> Require | None:
    key, sign, value = words.removeprefix(f"{Fact.ACTED}:").partition("=")
    if key != words and not sign:
        return require(Fact.ACTED, key)
    if not sign:
        return require(key, "green" if key == Fact.TESTS else True)
    return require(key, _VALUES.get(value, value))


def _limited(words: str) -> Limit:
    key, sign, value = words.partition("=")
    if not sign:
        raise RuleError(f"write {key}={_EXAMPLES[_MEASURES[_member(Amount, key)]]}")
    return limit(key, value)


def merged(rules: list[Rule]) -> list[Rule]:
    """Return the rules without each `require` or `limit` that a later one with the same key replaces. Raise
    `RuleError` if two rules about calls have the same name."""
    found: dict[object, Rule] = {}
    for rule in rules:
        if isinstance(rule, Forbid):
            if ("forbid", rule.name) in found:
                raise RuleError(f"two rules have the name {shown(rule.name)}")
            found["forbid", rule.name] = rule
        else:
            found[(rule.fact, rule.act) if isinstance(rule, Require) else rule.amount] = rule
    return list(found.values())


def shown(value: object) -> str:
    """Return a foreign value for an error: a short text in quotes, a number, or the name of its type."""
    if isinstance(value, str):
        return f'"{value[:_SHOWN_VALUE]}{"…" if len(value) > _SHOWN_VALUE else ""}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or (isinstance(value, int) and abs(value) <= _MOST_NUMBER):
        return f"{value}"
    kinds = {int: "that number", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date")


_Key = TypeVar("_Key", Fact, Amount)


def _member(kind: type[_Key], key: str) -> _Key:
    known = [each.value for each in kind]
    if key not in known:
        hint = did_you_mean(key, known) or f": it is {', '.join(known)}"
        raise RuleError(f"unknown key {shown(key)}{hint}")
    return kind(key)
