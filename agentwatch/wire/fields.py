"""Reading fields whose presence and type nobody promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentwatch.wire.json_line import parse

Fields = Mapping[str, Any]
NO_FIELDS: Fields = {}
_MOST_DIGITS = 20
_TOO_LARGE = 1 << 63
"""No number of the format is so large; what is has lost digits on its way through a float."""


def text(fields: Fields, key: str) -> str | None:
    """Return a string that is not empty, or None."""
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def number(fields: Fields, key: str) -> int | None:
    """Return a whole number, also from a string of digits (`"startedAtMs":"1790176761179"`), or None."""
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
    """Return an object, also from a string of JSON that holds one; otherwise an empty one."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse(value.encode("utf-8", "replace"))
        except ValueError:
            return NO_FIELDS
    return value if isinstance(value, dict) else NO_FIELDS


def items(value: object) -> list[Any]:
    """Return a list; otherwise an empty one."""
    return value if isinstance(value, list) else []
