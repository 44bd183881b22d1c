"""Writes values as JSON that every reader accepts: no half surrogate pairs, no NaN, no deep nesting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from agentwatch.safe_json import safe_json
from agentwatch.session.storage.growing_text import Content
from agentwatch.text.times import utc
from agentwatch.wire.json_line import whole_text

_CHUNK = 1 << 14
_MOST_LEVELS = 100
"""Levels of a value that is written as it was sent. The parser of pydantic refuses 200."""
_TOO_DEEP = "nested too deeply to be written"


def json_of(value: object) -> bytes:
    """Return a value as JSON, with every character that could control a terminal as an escape."""
    try:
        return safe_json(orjson.dumps(value))
    except TypeError:  # half a surrogate pair, an integer over 64 bits, or over 254 levels
        return json.dumps(_mended(value, _MOST_LEVELS)).encode()


def foreign_json(value: object) -> bytes:
    """Return a value that came from a stream as JSON; what is nested over 100 levels deep is left out."""
    return json_of(_mended(value, _MOST_LEVELS) if _may_be_deep(value) else value)


def text_json(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield a text that is given in pieces as a JSON string."""
    yield b'"'
    held = ""
    for piece in pieces:
        text = held + piece
        is_split = "\ud800" <= text[-1:] <= "\udbff"  # the other half may follow
        held, text = (text[-1:], text[:-1]) if is_split else ("", text)
        yield json_of(whole_text(text))[1:-1]
    if held:
        yield json_of(whole_text(held))[1:-1]
    yield b'"'


def pieces_of(content: Content) -> Iterator[str]:
    """Yield a text of the session in pieces."""
    for start in range(0, len(content), _CHUNK):
        yield content.part(start, start + _CHUNK)


def known(**members: object) -> dict[str, object]:
    """Return the members that are known."""
    return {name: value for name, value in members.items() if value is not None}


def members(fields: Mapping[str, object]) -> bytes:
    """Return members of an object, without its braces."""
    return json_of(fields)[1:-1]


def timestamp(at_ms: int | None) -> str | None:
    """Return a time as ISO 8601, in UTC; None if it is unknown or outside the years 1970 to 9999."""
    at = utc(at_ms)
    return None if at is None or at_ms is None else f"{at:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03}Z"


def _may_be_deep(value: object) -> bool:
    """Return whether a value has more than 50 levels, which real ones do not."""
    level = [value]
    for _ in range(_MOST_LEVELS // 2):
        level = [inner for each in level for inner in _inner(each) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _mended(value: Any, levels: int) -> Any:
    """Return a value that every reader of JSON accepts."""
    match value:
        case str():
            return whole_text(value)
        case float():
            return value if value - value == 0 else None
        case dict() | list() if levels == 0:
            return _TOO_DEEP
        case dict():
            return {whole_text(str(key)): _mended(inner, levels - 1) for key, inner in value.items()}
        case list() | tuple():
            return [_mended(inner, levels - 1) for inner in value]
    return value
