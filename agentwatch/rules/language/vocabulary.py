"""The fields that a rule may use, the kinds of their values, and numbers with units: `50s`, `12k`, `80%`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from agentwatch.rules.language.errors import RuleError, quoted
from agentwatch.text.durations import read_duration


class Measure(StrEnum):
    """The type of a field's values, which decides how they are compared."""

    NAME = "name"
    """A word, which a glob matches as a whole: `tool:edit`, `program:python*`."""
    TEXT = "text"
    """A text. A value without `*`, `?` and `[` is searched in it; a glob matches it as a whole."""
    PATH = "path"
    """A path. `*` stays within a folder, `**` does not; a glob without `/` matches the last part."""
    COUNT = "count"
    """A number; `k` is a thousand, `M` a million."""
    DURATION = "duration"
    """A time in milliseconds, with the unit `ms`, `s`, `m`, `h` or `d`."""
    PERCENT = "percent"
    """A share of 100, with or without `%`."""

    @property
    def is_number(self) -> bool:
        return self in (Measure.COUNT, Measure.DURATION, Measure.PERCENT)


class Field(NamedTuple):
    """A field of the calls, or of the rows of a list."""

    name: str
    measure: Measure
    about: str
    """The field's meaning, in one line: `what the call acts on`."""
    values: tuple[str, ...] = ()
    """Values that are offered while a rule is being typed."""
    is_closed: bool = False
    """Whether it has no other values than these."""
    cost: int = 0
    """The order of tests: fields with a low cost are tested first."""
    example: str = ""
    """A term with this field: `duration>50s`."""


class Vocabulary(NamedTuple):
    """The fields of a kind of rule, by name."""

    fields: Mapping[str, Field]
    alternatives: frozenset[str] = frozenset()
    """Words without a field that are alternatives if several occur: `failed rejected` selects both."""
    elsewhere: Mapping[str, str] = {}
    """Fields that other kinds of rules have, and which: `{"failed": "--on and check"}`."""
    synonyms: Mapping[str, str] = {}
    """Words that users may write instead of a field; an error then names the field: `{"file": "path"}`."""
    quotes_text: bool = False
    """Whether a word in quotes is text even if it is one of the alternatives."""
    word_cost: int = 1
    """The cost of testing a word without a field."""

    @classmethod
    def of(
        cls,
        fields: Iterable[Field],
        alternatives: Iterable[str] = (),
        elsewhere: Mapping[str, str] | None = None,
        synonyms: Mapping[str, str] | None = None,
    ) -> Vocabulary:
        by_name = {field.name: field for field in fields}
        return cls(by_name, frozenset(alternatives), elsewhere or {}, synonyms or {})


_TIME_OF_DAY = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")


def seconds_of_day(text: str) -> int | None:
    """Return the seconds from midnight to a time such as `09:00` or `9:00:30`; None for another text."""
    found = _TIME_OF_DAY.fullmatch(text)
    hours, minutes, seconds = (int(each or 0) for each in found.groups()) if found else (0, 0, 0)
    return None if found is None else (hours * 60 + minutes) * 60 + seconds


def is_time_of_day(text: str) -> bool:
    """Return whether a text begins with a time of day: `09:00`, `09:00..09:10`."""
    return _TIME_OF_DAY.match(text) is not None


_NUMBER = re.compile(r"(-?\d{1,15}(?:\.\d{1,9})?)([a-zA-Z%]{0,3})")
_UNITS: dict[Measure, dict[str, int]] = {
    Measure.COUNT: {"": 1, "k": 1_000, "M": 1_000_000},
    Measure.PERCENT: {"": 1, "%": 1},
}
_EXAMPLES = {
    Measure.COUNT: "a number, such as 20, 1.5k or 2M",
    Measure.DURATION: "a time with its unit: 500ms, 50s, 10m, 2h or 7d",
    Measure.PERCENT: "a share, such as 80%",
}


def number(text: str, measure: Measure, name: str, at: int = 0) -> float:
    """Return a number, a time in milliseconds, or a percentage. `at` is an offset in the rule, in characters.
    Raise `RuleError` if the text is not a number, or the unit is wrong.

    Example:
        >>> number("1.5m", Measure.DURATION, "duration")
        90000.0
    """
    value = read_duration(text) if measure is Measure.DURATION else _amount(text, _UNITS[measure])
    if value is None:
        clock = "; times of day are 09:00..09:10, without a field" if is_time_of_day(text) else ""
        raise RuleError(f"{name}: {quoted(text)} is not {_EXAMPLES[measure]}{clock}", at)
    return value


def _amount(text: str, units: Mapping[str, int]) -> float | None:
    found = _NUMBER.fullmatch(text)
    factor = None if found is None else units.get(found[2])
    return None if found is None or factor is None else float(found[1]) * factor
