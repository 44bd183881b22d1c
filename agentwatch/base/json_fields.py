"""Tables of the fields of JSON objects: the rows of lists, and the cards of engines. The same name, kind and
limit of each field bounds what is written, and what is read, which another program may have filled with
anything.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


def object_of(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in foreign bytes; None for anything else."""
    import orjson  # 20 ms, which a prompt waits for only if there is such a file

    try:
        value = orjson.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


class Field(NamedTuple):
    name: str
    kind: type[str | int | bool]
    limit: int = sys.maxsize
    """The most characters of a text, or the first integer that is too large."""
    empty: str | int | bool | None = None
    """The value for one that is missing, has another type or is out of range."""
    least: int = 0

    def bounded(self, value: object) -> Any:
        """Halves of surrogate pairs, which JSON does not have, become `?`."""
        _, kind, limit, empty, least = self
        if kind is str:
            text = value[:limit] if isinstance(value, str) else ""
            return (text if text.isascii() else text.encode("utf-8", "replace").decode()) or empty
        if kind is int:
            return value if type(value) is int and least <= value < limit else empty
        return value if isinstance(value, bool) else empty


def values_of(fields: Iterable[Field], source: object, **others: object) -> dict[str, Any]:
    """The attributes of an object, bounded, by the names of fields; `others` are not attributes of it."""
    return {
        (name := field.name): field.bounded(others[name] if name in others else getattr(source, name))
        for field in fields
    }


def values_in(fields: Iterable[Field], given: Mapping[str, object]) -> dict[str, Any]:
    """The values of a JSON object, bounded; others are ignored."""
    return {field.name: field.bounded(given.get(field.name)) for field in fields}
