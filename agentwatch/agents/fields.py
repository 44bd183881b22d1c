"""Reads JSON fields that may be absent or of any type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

Fields = Mapping[str, Any]
NO_FIELDS: Fields = {}
MOST_ID = 1000
"""The length of an id or a name that is kept in memory, in characters. Ids in captures have at most 90."""
_MOST_DIGITS = 20
_MOST_CHARACTERS = 200
"""The length to which `in_words` cuts a value: the longest known name has 30 characters."""
_MOST_COST = 1e9
"""In US dollars. A larger number is not a cost."""
_MOST_TIMES = 10
"""A limit may be exceeded, but not by this factor."""
_MOST_SECONDS = 1 << 38
"""A time after the year 9999 is not one."""
_TOO_LARGE = 1 << 63
"""Larger numbers do not occur in the format. One that does has lost precision as a float, so it is treated as
unknown.
"""


def text(fields: Fields, key: str) -> str | None:
    """Return a string field; None if it is absent, empty or not a string."""
    value = fields.get(key)
    return value if value and isinstance(value, str) else None


def number(fields: Fields, key: str) -> int | None:
    """Return an integer field; None if it is absent, does not fit into 64 bits, or is not an integer.

    A string of digits is read as an integer, because some fields are written that way
    (`"startedAtMs":"1790176761179"`). So is a float without a fraction.
    """
    value = fields.get(key)
    if value is None:
        return None
    if type(value) is int:
        return value if -_TOO_LARGE < value < _TOO_LARGE else None
    if isinstance(value, str):
        is_number = len(value) < _MOST_DIGITS and value.removeprefix("-").isdecimal()
        value = int(value) if is_number else None
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_TOO_LARGE < value < _TOO_LARGE else None


def mapping(value: object) -> Fields:
    """Return a JSON object, which may also be given as a string of JSON; {} for any other value."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        from agentwatch.agents.json_line import parse  # a prompt reads fields without orjson

        try:
            value = parse(value.encode("utf-8", "replace"))
        except ValueError:
            return NO_FIELDS
    return value if isinstance(value, dict) else NO_FIELDS


def items(value: object) -> list[Any]:
    """Return a list; [] for any other value."""
    return value if isinstance(value, list) else []


def cost(value: object) -> float | None:
    """Return a cost in US dollars; None for a value that is not a number, or not a possible cost."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_COST:
        return None
    return float(value)


def percent(value: object, whole: float = 100) -> float | None:
    """Return a share in percent; None for a value that is not a number, or not a possible share. `whole` is
    the share of everything: 1 for `0.62`, 100 for `62`.

    Example:
        >>> percent(0.29, 1), percent(62.0), percent("62")
        (29.0, 62.0, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TIMES * whole:
        return None
    return round(value / whole * 100, 3)  # 100 * 0.29 is 28.999999999999996


def seconds_ms(fields: Fields, key: str) -> int | None:
    """Return a time in milliseconds since the epoch from a field in seconds; None if it is invalid."""
    at_s = number(fields, key)
    return at_s * 1000 if at_s is not None and 0 < at_s < _MOST_SECONDS else None


def known_sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def scalars(value: object) -> dict[str, object] | None:
    """Return an object without its lists, objects and integers of more than 64 bits; None for others."""
    if not isinstance(value, dict):
        return None
    return {
        key: inner
        for key, inner in value.items()
        if isinstance(inner, str | bool | float | None) or number(value, key) is not None
    }


def unknown_keys(fields: Fields, known: Collection[str], where: str) -> Iterator[tuple[str, object]]:
    """Yield each field whose name is not known, as its description and its value. `where` is what the fields
    belong to, for the description: `of a read call`."""
    for key in fields:
        if key not in known:
            yield f"field {in_words(key)} {where}", fields[key]


def decoded_size(data: str) -> int:
    """Return the number of bytes that a text in base64 contains."""
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)


def in_words(value: object) -> str:
    """Return a short name for a value of any type, for a message.

    A string is cut to 200 characters. An object or array is only named: formatting one that is nested 1,000
    levels deep would raise `RecursionError`, and formatting a large one would keep all of it in memory.

    Example:
        >>> in_words("weather"), in_words(7), in_words({"a": 1})
        ('weather', '7', 'an object')
    """
    match value:
        case str():
            return value if len(value) <= _MOST_CHARACTERS else f"{value[: _MOST_CHARACTERS - 1]}…"
        case dict():
            return "an object"
        case list():
            return "an array"
        case bool():
            return "true" if value else "false"
    return f"{value}"  # a number, or None
