"""The kinds of rules in a TOML file: `forbid` of calls, `require` and `limit` of the whole session."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from agentwatch.base.faults import USAGE, Fault, cannot_open, raising
from agentwatch.recording.acts import ACT_NAMES
from agentwatch.rules.calls.fields import LIVE
from agentwatch.rules.language.conditions import Condition
from agentwatch.rules.language.errors import RuleError, did_you_mean, quoted
from agentwatch.rules.language.parser import parse
from agentwatch.rules.language.vocabulary import Measure, number

_MOST_NUMBER = 1e15
_MOST_SHOWN = 60
_VALUES: Mapping[str, object] = {"true": True, "false": False}
_Made = TypeVar("_Made")


class Severity(StrEnum):
    """The effect of a broken rule on the exit code."""

    ERROR = "error"
    WARNING = "warning"
    """A broken rule is reported, and does not change the exit code."""


class Fact(StrEnum):
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
    IDLE = "idle"
    """The longest silence that no running call explains."""
    ELAPSED = "elapsed"
    """The time from the first line to the last."""
    COST = "cost"
    """The cost in US dollars."""
    TOKENS = "tokens"
    """Input and output."""
    CONTEXT = "context"
    """The greatest share of the model's context that was in use."""


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
    """The act of the user that `acted` demands."""

    @property
    def name(self) -> str:
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
    """Return the rules of options: `tests=green`, `failed=5`. A `RuleError` names the faulty option."""
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
    """Return the rules, of which a later one replaces an earlier one with the same key. Raise `RuleError` if
    two rules about calls have the same name."""
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
        return quoted(value)
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


_MOST_BYTES = 1 << 18
"""No person writes a larger file. `tomllib` reads any file of this size in 0.1 s."""
_MOST_RULES = 500
_STARTERS = Path(__file__).resolve().parent.parent / "starters"
_MOST_MISTAKES = 20
_KEYS = ("forbid", "require", "limit")
_FORBID_KEYS = ("name", "when", "severity")
_VALUE_KEYS = ("value", "severity")
_SEVERITIES = [severity.value for severity in Severity]


def starter_path(name: str) -> Path:
    """Return the file of a set of rules that is shipped: `safe`. Raise `RuleError` for another name."""
    known = {path.stem: path for path in sorted(_STARTERS.glob("*.toml"))}
    if name not in known:
        hint = did_you_mean(name, list(known)) or f"; known: {', '.join(known)}"
        raise RuleError(f"unknown set of rules {shown(name)}{hint}")
    return known[name]


def read_rules(path: Path) -> list[Rule]:
    """Return the rules of a file in order; raise `Fault` if it cannot be read or is not a file of rules."""
    with raising(cannot_open, path), open(path, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise _fault(path, f"larger than {_MOST_BYTES >> 10} KiB")
    try:
        found = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise _fault(path, f"not valid UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise _fault(path, "not valid TOML: nested too deeply") from None
    except ValueError as error:  # also a number with thousands of digits
        raise _fault(path, f"not valid TOML: {error}") from None
    rules, mistakes = list[Rule](), list[str]()
    for read in _entries(found):
        try:
            if (rule := read()) is not None:
                rules.append(rule)
        except RuleError as error:
            mistakes.append(f"{path}: {error.reason}")
    if mistakes:
        left = len(mistakes) - _MOST_MISTAKES
        rest = [f"{path}: {left:,} more mistakes"] if left > 0 else []
        raise Fault(mistakes[0], USAGE, [*mistakes[1:_MOST_MISTAKES], *rest])
    if not rules:
        raise _fault(path, "it has no rule; forbid, [require] and [limit] hold rules")
    return rules


def _entries(found: Mapping[str, object]) -> Iterator[Callable[[], Rule | None]]:
    """Yield for each entry of a file what reads it, or raises a RuleError that says what is wrong with it."""
    for key in found:
        if key not in _KEYS:
            yield partial(_refuse, f"unknown key {shown(key)}{_hint(key, _KEYS)}")
    forbids = found.get("forbid", [])
    if not isinstance(forbids, list):
        yield partial(_refuse, 'forbid is a list: forbid = [{name = "…", when = "…"}]')
    elif len(forbids) > _MOST_RULES:
        yield partial(_refuse, f"forbid has {len(forbids)} entries; at most {_MOST_RULES} are read")
    else:
        for index, entry in enumerate(forbids, 1):
            yield partial(_forbid, entry, f"forbid {index}")
    for key, make in (("require", require), ("limit", limit)):
        section = found.get(key, {})
        if isinstance(section, dict):
            for name, value in section.items():
                yield partial(_of_session, key, name, value, make)
        else:
            yield partial(_refuse, f"{key} is a table: [{key}]")


def _refuse(reason: str) -> None:
    raise RuleError(reason)


def _forbid(entry: object, place: str) -> Rule:
    if not isinstance(entry, dict):
        raise RuleError(f'{place} is {shown(entry)}, not {{name = "…", when = "…"}}')
    name = entry.get("name", "")
    if not isinstance(name, str):
        raise RuleError(f"{place}: name is a text, not {shown(name)}")
    place = f"{place} {shown(name)}" if name else place
    _check_keys(entry, _FORBID_KEYS, place)
    when = entry.get("when")
    if not isinstance(when, str):
        missing = "has no when" if when is None else f"when is a text, not {shown(when)}"
        raise RuleError(f"{place}: {missing}; for example when = 'tool:edit outside:cwd'")
    severity = _severity(entry, place)
    try:
        return forbid(when, name.strip(), severity, allows_patterns=True)
    except RuleError as error:
        at = f" (at character {error.at + 1} of when)" if error.at else ""
        raise RuleError(f"{place}: {error.reason}{at}") from None


def _of_session(
    section: str,
    name: str,
    value: object,
    make: Callable[[str, object, Severity], Require | Limit | None],
) -> Rule | None:
    place, severity = f"{section}.{name[:40]}", Severity.ERROR
    if isinstance(value, dict):
        _check_keys(value, _VALUE_KEYS, place)
        severity = _severity(value, place)
        if "value" not in value:
            raise RuleError(f'{place} has no value: {{value = …, severity = "warning"}}')
        value = value["value"]
    try:
        return make(name, value, severity)
    except RuleError as error:
        raise RuleError(f"[{section}] {error.reason}") from None


def _severity(entry: Mapping[str, object], place: str) -> Severity:
    found = entry.get("severity", Severity.ERROR.value)
    if not isinstance(found, str) or found not in _SEVERITIES:
        raise RuleError(f'{place}: severity is "error" or "warning", not {shown(found)}')
    return Severity(found)


def _check_keys(entry: Mapping[str, object], known: tuple[str, ...], place: str) -> None:
    for key in entry:
        if key not in known:
            raise RuleError(f"{place}: unknown key {shown(key)}{_hint(key, known)}")


def _hint(key: str, known: tuple[str, ...]) -> str:
    return did_you_mean(key, known) or f"; known keys: {', '.join(known)}"


def _fault(path: Path, reason: str) -> Fault:
    return Fault(f"{path}: {reason}", USAGE)
