"""Reads and writes the JSON of stores. No value makes it raise."""

from __future__ import annotations

import json

import orjson


def parsed(data: str | bytes) -> object:
    """Return a JSON value; None if the data is not JSON, or is nested too deeply.

    Python's parser reads what orjson rejects: half a surrogate pair, NaN, and bytes that are not UTF-8.
    """
    try:
        return orjson.loads(data)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace") if isinstance(data, bytes) else data)
    except (ValueError, RecursionError):
        return None


def as_line(value: dict[str, object]) -> bytes | None:
    """Return an object as a line with its line end; None if it is nested too deeply.

    Python's writer writes what orjson rejects: more than 254 levels, half a surrogate pair, and integers of
    more than 64 bits.
    """
    try:
        return orjson.dumps(value) + b"\n"
    except orjson.JSONEncodeError:
        pass
    try:
        return json.dumps(value).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        return None
