"""A line of bytes as JSON. orjson reads it; what orjson refuses and Python can read is read all the same."""

from __future__ import annotations

import json

import orjson

_BOM = b"\xef\xbb\xbf"


def parse(data: bytes) -> object:
    """Return the value that a line holds.

    orjson refuses a BOM, NaN, invalid UTF-8 and half a surrogate pair, which real agents send when
    they cut a text inside an emoji; these are read, with U+FFFD for what cannot be decoded.

    Raises:
        ValueError: The line is not JSON, or is nested deeper than Python can read.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return _mended(json.loads(data.removeprefix(_BOM).decode("utf-8", "replace")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _mended(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
