"""Parses a line as JSON, first with orjson, then with Python's own parser if orjson rejects the line."""

from __future__ import annotations

import json
from typing import Any

import orjson

_BOM = b"\xef\xbb\xbf"
_MOST_DIGITS = 20


class Repaired(dict[str, Any]):
    """An object that orjson rejected. Each half surrogate pair in it is replaced by U+FFFD."""

    __slots__ = ("halves",)

    def __init__(self, mended: dict[str, Any], halves: dict[str, Any]) -> None:
        super().__init__(mended)
        self.halves = halves
        """The same object with half surrogate pairs unchanged, because the next line may have the other
        half."""


def parse(data: bytes) -> object:
    """Return the JSON value of a line. An object that orjson rejected is `Repaired`. Raise `ValueError` if
    the line is not JSON, or it is nested deeper than Python can parse."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return parse_leniently(data)


def parse_leniently(data: bytes) -> object:
    """Return the JSON value of a line that orjson rejected. An object is `Repaired`.

    orjson rejects a BOM, NaN, invalid UTF-8, and half a surrogate pair, which real agents send when they
    split a text inside an emoji. Python's parser reads such lines, and U+FFFD replaces what cannot be
    decoded. A number of more than 20 digits becomes a string of its digits. Raise `ValueError` if the line is
    not JSON, or it is nested deeper than Python can parse.
    """
    try:
        value = _DECODER.decode(data.removeprefix(_BOM).decode("utf-8", "replace"))
        return Repaired(_mended(value), value) if isinstance(value, dict) else _mended(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_joined(pieces: list[bytes]) -> object:
    """Return the JSON value of a line that raw line ends inside a string have split. Users of the real agent
    have reported `stream-json` with literal newlines in its strings. `pieces` have no line ends. Raise
    `ValueError` if the joined line is not JSON."""
    return parse(joined(pieces))


def joined(pieces: list[bytes]) -> bytes:
    """Join physical lines into one line. The line ends inside its string are escaped as JSON requires.

    Example:
        >>> joined([b'{"text":"one', b'two"}']) == rb'{"text":"one\\ntwo"}'
        True
    """
    return pieces[0] if len(pieces) == 1 else b"\\n".join(piece.replace(b"\r", b"\\r") for piece in pieces)


def whole_text(text: str) -> str:
    """Join the halves of split surrogate pairs. A half without its other half becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()  # detects a half surrogate pair in a fifth of the time that a regex needs
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


_DECODER = json.JSONDecoder(parse_int=_whole_number)
"""Shared by all lines: making one takes as long as rejecting a short line with it."""


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {whole_text(key): _mended(item) for key, item in value.items()}
    return value
