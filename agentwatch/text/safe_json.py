"""Makes JSON safe for the terminal that shows it, without changing its values."""

from __future__ import annotations

import re
from typing import Any

import orjson

from agentwatch.text.safe import safe_text

_MOST_NUMBER = 1 << 63
_ASCII = bytes(range(0x7F))
_DOUBTFUL = re.compile(
    b"\x7f|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8[\x80-\x9f]|\xdb\x9d|\xdc\x8f"
    b"|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"
    b"|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xe3\x85\xa4"
    b"|\xef(?:\xb7[\x90-\xaf]|\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb9-\xbf])"
    b"|\xf0(?:[\x90-\x9e\xa0-\xbf][\x80-\xbf]{2}|\x9f\xbf[\xbe\xbf])"
    b"|\xf1[\x80-\xbf]{3}|\xf2[\x80-\xbf]{3}|\xf3[\x80-\xbf]{3}|\xf4[\x80-\xbf]{3}"
)
"""Matches the UTF-8 of all raw JSON characters that act on a terminal or are invisible, and of some others.

Each alternative begins with a single byte: the regex engine can then search for all first bytes at once,
which takes a seventh of the time.
"""


def encoded(value: object) -> bytes:
    """Return a value as safe JSON; half a surrogate pair becomes `?`, an integer over 64 bits a float."""
    try:
        data = orjson.dumps(value)
    except orjson.JSONEncodeError:
        data = orjson.dumps(_valid(value))
    return safe_json(data)


def _valid(value: Any) -> Any:
    match value:
        case dict():
            return {key: _valid(each) for key, each in value.items()}
        case list():
            return [_valid(each) for each in value]
        case str():
            return value.encode(errors="replace").decode()
        case int() if not -_MOST_NUMBER <= value < _MOST_NUMBER:
            return float(value)
    return value


def safe_json(data: bytes) -> bytes:
    """Write every character that could control a terminal or is invisible as an escape."""
    others = data.translate(None, _ASCII)  # a tenth of the time that the search of all bytes takes
    is_plain = _DOUBTFUL.sub(_escaped, others) == others
    return data if is_plain else _DOUBTFUL.sub(_escaped, data)


def _escaped(found: re.Match[bytes]) -> bytes:
    char = found[0].decode()
    if safe_text(char) == char:
        return found[0]
    units = char.encode("utf-16-be")
    return b"".join(b"\\u" + units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
