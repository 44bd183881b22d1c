"""The syntax tree of a rule. Bound to readers, it becomes a test of one call or row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Generic, Protocol, TypeAlias, TypeVar

from agentwatch.rules.language.matchers import Matcher, name_matcher, path_matcher, text_matcher
from agentwatch.rules.language.vocabulary import Field, Measure
from agentwatch.text.times import local

T = TypeVar("T")


@dataclass(frozen=True)
class Partly:
    """The known values of a field that may have others."""

    values: tuple[str, ...]


Value: TypeAlias = str | float | tuple[str, ...] | Partly | None
"""The value of a field: a text, a number, several names of which one must match, or None if unknown."""
Test: TypeAlias = Callable[[T], bool | None]
"""Returns whether a condition is true; None if a value that decides it is unknown."""

_MOST_CACHED = 4096
"""Results of a glob that are kept. A session has a few tools and programs."""
_COMPARISONS = {">": gt, ">=": ge, "<": lt, "<=": le}
_MATCHERS: Mapping[Measure, Callable[[str], Matcher]] = {
    Measure.NAME: name_matcher,
    Measure.TEXT: text_matcher,
    Measure.PATH: path_matcher,
}


@dataclass(frozen=True)
class Readers(Generic[T]):
    """The functions that read the values of the fields from a call or a row."""

    values: Mapping[str, Callable[[T], Value]]
    """The function that reads each field, by the field's name."""
    word: Callable[[str], Test[T]]
    """Returns the test for a word without a field, in lower case."""
    own: Mapping[str, Callable[[str], Test[T]]]
    """A function that returns the test for a value, by the name of a field with a special comparison."""
    began_ms: Callable[[T], int | None] = lambda _subject: None
    """Returns when the call or the session began; None if unknown."""
    quoted: Callable[[str], Test[T]] | None = None
    """Returns the test for a word in quotes; None if it is the test for other words."""


class Condition(Protocol):
    """A rule, or a part of a rule."""

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields in the condition."""

    @property
    def cost(self) -> int:
        """The cost of the most expensive field."""

    def bind(self, readers: Readers[T]) -> Test[T]:
        """Return the test with these readers."""


@dataclass(frozen=True)
class Word:
    text: str
    is_quoted: bool = False
    fields: frozenset[str] = frozenset()
    cost: int = 1

    def bind(self, readers: Readers[T]) -> Test[T]:
        return ((self.is_quoted and readers.quoted) or readers.word)(self.text)


@dataclass(frozen=True)
class _OfField:
    field: Field

    @property
    def fields(self) -> frozenset[str]:
        return frozenset({self.field.name})

    @property
    def cost(self) -> int:
        return self.field.cost


@dataclass(frozen=True)
class Glob(_OfField):
    """A field whose value a glob, a word or a regular expression must match."""

    value: str
    pattern: Matcher | None = None
    """The regular expression in place of the glob."""

    def bind(self, readers: Readers[T]) -> Test[T]:
        if self.pattern is None and self.field.name in readers.own:
            return readers.own[self.field.name](self.value)
        read = readers.values[self.field.name]
        matches = self.pattern or _MATCHERS[self.field.measure](self.value)
        if self.field.measure is Measure.NAME:
            return _cached(read, matches)

        return lambda subject: any_matches(read(subject), matches)


@dataclass(frozen=True)
class Comparison(_OfField):
    operator: str
    number: float

    def bind(self, readers: Readers[T]) -> Test[T]:
        read, number = readers.values[self.field.name], self.number
        compare = _COMPARISONS.get(self.operator)

        def test(subject: T) -> bool | None:
            value = read(subject)
            if not isinstance(value, int | float):
                return None
            return value == number if compare is None else compare(value, number)

        return test


@dataclass(frozen=True)
class TimesOfDay:
    """Whether the call or the session began between two local times of day, in seconds, on any day. If the
    first time is the later one, the period includes midnight."""

    first: int
    last: int
    fields: frozenset[str] = frozenset()
    cost: int = 1

    def bind(self, readers: Readers[T]) -> Test[T]:
        first, last, read = self.first, self.last, readers.began_ms

        def test(subject: T) -> bool | None:
            at = local(read(subject))
            if at is None:
                return None
            second = (at.hour * 60 + at.minute) * 60 + at.second
            return first <= second <= last if first <= last else not last < second < first

        return test


@dataclass(frozen=True)
class Not:
    """The negation of a condition. The negation of unknown is unknown."""

    part: Condition

    @property
    def fields(self) -> frozenset[str]:
        return self.part.fields

    @property
    def cost(self) -> int:
        return self.part.cost

    def bind(self, readers: Readers[T]) -> Test[T]:
        test = self.part.bind(readers)

        def opposite(subject: T) -> bool | None:
            found = test(subject)
            return None if found is None else not found

        return opposite


@dataclass(frozen=True)
class Several:
    """Conditions of which all, or at least one, must be true."""

    parts: tuple[Condition, ...]
    is_any: bool

    @property
    def fields(self) -> frozenset[str]:
        return frozenset().union(*(part.fields for part in self.parts))

    @property
    def cost(self) -> int:
        return max(part.cost for part in self.parts)

    def bind(self, readers: Readers[T]) -> Test[T]:
        """Return the test with these readers; the cheapest conditions are tested first."""
        tests = [part.bind(readers) for part in sorted(self.parts, key=lambda part: part.cost)]
        return _combined(tests, self.is_any)


def _combined(tests: Sequence[Test[T]], decides: bool) -> Test[T]:
    """Return the test that the first result `decides` decides; otherwise None if a result is unknown."""

    def test(subject: T) -> bool | None:
        result: bool | None = not decides
        for each in tests:
            found = each(subject)
            if found is decides:
                return decides
            if found is None:
                result = None
        return result

    return test


def _cached(read: Callable[[T], Value], matches: Matcher) -> Test[T]:
    """Return the test of a field with few different values; each value is compared once."""
    results: dict[Value, bool | None] = {}

    def test(subject: T) -> bool | None:
        value = read(subject)
        found = results.get(value, results)
        if found is not results:
            return found  # type: ignore[return-value]
        if len(results) >= _MOST_CACHED:
            results.clear()
        results[value] = result = any_matches(value, matches)
        return result

    return test


def any_matches(value: Value, matches: Matcher) -> bool | None:
    """Return whether a text, or one of several, matches; None if that is unknown."""
    if isinstance(value, str):
        return matches(value)
    if isinstance(value, Partly):
        return any(map(matches, value.values)) or None
    return any(map(matches, value)) if isinstance(value, tuple) else None
