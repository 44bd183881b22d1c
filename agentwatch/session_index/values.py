"""Values as SQLite can hold them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_MOST_NUMBER = 1 << 63
Row = tuple[Any, ...]


def row_of(values: Iterable[Any]) -> Row:
    """Return a row of values that SQLite can hold."""
    return tuple(map(value_of, values))


def value_of(value: Any) -> Any:
    """Return a value that SQLite can hold: half a surrogate pair becomes `?`, a huge number None."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return None if isinstance(value, int) and not -_MOST_NUMBER <= value < _MOST_NUMBER else value
