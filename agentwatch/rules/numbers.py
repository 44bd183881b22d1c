"""Numbers with units in rules: `50s`, `1.5m`, `12k`, `80%`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentwatch.rules.errors import RuleError, quoted
from agentwatch.rules.fields import Field, Measure
from agentwatch.text.durations import read_duration

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
    """Return a number, a time in milliseconds, or a percentage.

    Args:
        text: The number with its unit.
        measure: The kind of the number.
        name: The name of the field or key, for the error.
        at: The offset of the number in the rule, for the error.

    Raises:
        RuleError: The text is not a number, or the unit is wrong.

    Example:
        >>> number("1.5m", Measure.DURATION, "duration")
        90000.0
    """
    value = read_duration(text) if measure is Measure.DURATION else _amount(text, _UNITS[measure])
    if value is None:
        raise RuleError(f"{name}: {quoted(text)} is not {_EXAMPLES[measure]}", at)
    return value


def number_of(text: str, field: Field, at: int) -> float:
    """Return the number with which a field is compared."""
    return number(text, field.measure, field.name, at)


def _amount(text: str, units: Mapping[str, int]) -> float | None:
    found = _NUMBER.fullmatch(text)
    factor = None if found is None else units.get(found[2])
    return None if found is None or factor is None else float(found[1]) * factor
