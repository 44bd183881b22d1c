"""A line of bytes as JSON. orjson reads it; what orjson refuses and Python can read is read all the same."""

from __future__ import annotations

import json
from typing import Any

import orjson

_BOM = b"\xef\xbb\xbf"
_MOST_DIGITS = 20


class Repaired(dict[str, Any]):
    """An object that orjson refused; half a surrogate pair in it is U+FFFD."""

    __slots__ = ("halves",)

    def __init__(self, mended: dict[str, Any], halves: dict[str, Any]) -> None:
        super().__init__(mended)
        self.halves = halves
        """The same object with its halves as they came: the other half may be in the next line."""


def parse(data: bytes) -> object:
    """Return the value that a line holds; an object that orjson refused is `Repaired`.

    orjson refuses a BOM, NaN, invalid UTF-8 and half a surrogate pair, which real agents send when
    they cut a text inside an emoji; these are read, with U+FFFD for what cannot be decoded. A number
    of more than 20 digits stays a string of them.

    Raises:
        ValueError: The line is not JSON, or is nested deeper than Python can read.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        value = json.loads(data.removeprefix(_BOM).decode("utf-8", "replace"), parse_int=_whole_number)
        return Repaired(_mended(value), value) if isinstance(value, dict) else _mended(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_joined(pieces: list[bytes]) -> object:
    """Return the value that physical lines hold together, which raw line ends inside a string have cut.

    Reported of the real agent: `stream-json` with literal newlines in its strings.

    Raises:
        ValueError: Together they are not JSON either.
    """
    return parse(joined(pieces))


def joined(pieces: list[bytes]) -> bytes:
    """Return the one line that physical lines are, the line ends inside a string written as JSON has them."""
    return pieces[0] if len(pieces) == 1 else b"\\n".join(piece.replace(b"\r", b"\\r") for piece in pieces)


def whole_text(text: str) -> str:
    """Return text without lone halves of surrogate pairs: two halves become one, a lone one U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()  # finds a half in a fifth of the time that a pattern takes
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {whole_text(key): _mended(item) for key, item in value.items()}
    return value
