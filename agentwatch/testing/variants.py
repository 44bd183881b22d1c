"""Copies of a JSON value in which one field is absent, or has a value that nobody expects."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e300, 1 << 63, "", "x" * 5000, "2026-13-45T99:99:99Z", "0001-01-01"),
    *([], [1], [[]], [{}], {}, {"": 1}, {"text": 1}, "{}", '{"a":1}', "\ud83d"),
)
"""Values that no field expects."""
ABSENT = object()
_MOST_DEPTH = 8
_MOST_COMPARED_DEPTH = 7
Path = tuple[Any, ...]


def paths(value: Any, most_items: int | None = None, depth: int = 0) -> Iterator[Path]:
    """Yield the path of each member and each item in a JSON value, at most 8 levels deep.

    Args:
        value: The value.
        most_items: The number of items of each array that count; None for all.
        depth: The number of levels above the value.
    """
    if depth == _MOST_DEPTH or not isinstance(value, dict | list):
        return
    for key in value if isinstance(value, dict) else range(len(value))[:most_items]:
        yield (key,)
        for inner in paths(value[key], most_items, depth + 1):
            yield (key, *inner)


def replaced(value: Any, path: Path, other: Any) -> Any:
    """Return a copy of a JSON value with another value at a path; `ABSENT` removes a member or an item."""
    if not path:
        return other
    key, *rest = path
    copied = copy.copy(value)
    if other is ABSENT and not rest:
        del copied[key]
    else:
        copied[key] = replaced(value[key], tuple(rest), other)
    return copied


def variants(value: Any, most_items: int | None = None) -> Iterator[Any]:
    """Yield copies of a JSON value; in each, one member or one item is absent or has another value."""
    for path in paths(value, most_items):
        for other in (ABSENT, *WRONG):
            yield replaced(value, path, other)


def shape(value: Any, depth: int = 0) -> Any:
    """Return the keys and types in a JSON value."""
    if depth > _MOST_COMPARED_DEPTH:
        return None
    if isinstance(value, dict):
        return tuple(sorted((key, repr(shape(each, depth + 1))) for key, each in value.items()))
    if isinstance(value, list):
        return (type(value).__name__, *(shape(each, depth + 1) for each in value[:2]))
    return type(value).__name__


def with_long_texts(value: Any, size: int) -> Any:
    """Return a JSON value in which each text of several words or lines is repeated, to about `size`."""
    if isinstance(value, dict):
        return {key: with_long_texts(inner, size) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_long_texts(inner, size) for inner in value]
    if isinstance(value, str) and (" " in value or "\n" in value):
        return value * (size // len(value) + 1)
    return value


def with_long_arrays(value: Any, size: int) -> Any:
    """Return a JSON value in which each innermost array is repeated, to about `size` characters of JSON."""
    if isinstance(value, dict):
        return {key: with_long_arrays(inner, size) for key, inner in value.items()}
    if not isinstance(value, list) or not value:
        return value
    longer = [with_long_arrays(inner, size) for inner in value]
    return longer if longer != value else value * (size // len(json.dumps(value)) + 1)


def nested(depth: int) -> Any:
    """Return an array in an array, and so on."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value
