"""Reads JSON fields that may be absent or of any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentwatch.wire.json_line import parse

Fields = Mapping[str, Any]
NO_FIELDS: Fields = {}
_MOST_DIGITS = 20
_TOO_LARGE = 1 << 63
"""Larger numbers do not occur in the format. One that does has lost precision as a float, so it is treated as
unknown.
"""


def text(fields: Fields, key: str) -> str | None:
    """Return a string field; None if it is absent, empty or of another type."""
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def number(fields: Fields, key: str) -> int | None:
    """Return a whole number; None if it is absent or of another type.

    A string of digits also counts (`"startedAtMs":"1790176761179"`).
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
    """Return an object, which may be encoded as a string of JSON; otherwise an empty object."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse(value.encode("utf-8", "replace"))
        except ValueError:
            return NO_FIELDS
    return value if isinstance(value, dict) else NO_FIELDS


def items(value: object) -> list[Any]:
    """Return a list; an empty one for any other value."""
    return value if isinstance(value, list) else []
