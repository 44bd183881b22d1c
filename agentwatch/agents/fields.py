"""Reads JSON fields that may be absent or of any type, and parses the lines that have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from json import JSONDecoder


Fields = Mapping[str, Any]
NO_FIELDS: Fields = {}
SUBAGENT = "joinedSubagent"
"""The member that we add to the lines of a subagent, if they are read with those of its session."""
MOST_ID = 1000
"""The length of an id or a name that is kept in memory, in characters. Ids in captures have at most 90."""
_MOST_DIGITS = 20
_MOST_CODE = 11
_MOST_CHARACTERS = 200
"""The length to which `in_words` cuts a value: the longest known name has 30 characters."""
_MOST_COST = 1e9
_MOST_TIMES = 10
"""A limit may be exceeded, but not by this factor."""
_MOST_SECONDS = 1 << 38
"""A time after the year 9999 is not one."""
_TOO_SMALL, _TOO_LARGE = -(1 << 53), 1 << 53
"""Larger numbers do not occur; one that does has lost precision as a float, and counts as unknown. The
difference of two smaller ones, as of two times, fits in 64 bits."""


def text(fields: Fields, key: str) -> str | None:
    value = fields.get(key)
    return value if value and isinstance(value, str) else None


def number(fields: Fields, key: str) -> int | None:
    """Return an integer field; None if it is not one of 53 bits. Digits in a string are read too, because
    some fields are written that way (`"startedAtMs":"1790176761179"`), and a float without a fraction."""
    value = fields.get(key)
    if value is None:
        return None
    if type(value) is int:
        return value if _TOO_SMALL < value < _TOO_LARGE else None
    if isinstance(value, str):
        is_number = len(value) < _MOST_DIGITS and value.removeprefix("-").isdecimal()
        value = int(value) if is_number else None
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if _TOO_SMALL < value < _TOO_LARGE else None


def mapping(value: object) -> Fields:
    """Return a JSON object, which may also be given as JSON in a string or bytes; {} for any other value."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = value.encode("utf-8", "replace")
    if isinstance(value, bytes):
        value = line_object(value)
    return value if isinstance(value, dict) else NO_FIELDS


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def joined_text(value: object) -> str:
    """Return a text that may be a list of parts, each on lines of its own."""
    if isinstance(value, str):
        return value
    return "\n".join(found for part in items(value) if (found := text(mapping(part), "text")))


def cost(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_COST:
        return None
    return float(value)


def percent(value: object, whole: float = 100) -> float | None:
    """Return a share in percent; None for a value that is not a number, or not a possible share. `whole` is
    the share of everything: 1 for `0.62`, 100 for `62`.

    Example:
        >>> percent(0.29, 1), percent(62.0), percent("62")
        (29.0, 62.0, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TIMES * whole:
        return None
    return round(value / whole * 100, 3)  # 100 * 0.29 is 28.999999999999996


def seconds_ms(fields: Fields, key: str) -> int | None:
    at_s = number(fields, key)
    return at_s * 1000 if at_s is not None and 0 < at_s < _MOST_SECONDS else None


def integer(digits: str) -> int | None:
    is_integer = digits.isascii() and digits.removeprefix("-").isdecimal() and len(digits) <= _MOST_CODE
    return int(digits) if is_integer else None


def scalars(value: object) -> dict[str, object] | None:
    if not isinstance(value, dict):
        return None
    return {
        key: inner
        for key, inner in value.items()
        if isinstance(inner, str | bool | float | None) or number(value, key) is not None
    }


def unknown_keys(fields: Fields, known: Collection[str], where: str) -> Iterator[tuple[str, object]]:
    """Yield each field whose name is not known, as its description and its value. `where` is what the fields
    belong to, for the description: `of a read call`."""
    for key in fields:
        if key not in known:
            yield f"field {in_words(key)} {where}", fields[key]


def decoded_size(data: str) -> int:
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)


def in_words(value: object) -> str:
    """Return a short name for a value, for a message: formatting an object that is nested 1,000 levels
    deep would raise `RecursionError`, and a large one would be kept in memory.

    Example:
        >>> in_words("weather"), in_words(7), in_words({"a": 1})
        ('weather', '7', 'an object')
    """
    match value:
        case str():
            return value if len(value) <= _MOST_CHARACTERS else f"{value[: _MOST_CHARACTERS - 1]}…"
        case dict():
            return "an object"
        case list():
            return "an array"
        case bool():
            return "true" if value else "false"
    return f"{value}"  # a number, or None


# Parses a line as JSON, first with orjson, then with Python's own parser if orjson rejects the line.

_BOM = b"\xef\xbb\xbf"
_MOST_INTEGER = 20


class Salvaged(dict[str, Any]):
    """The fields of a line that was only partly read. The line may also have fields that are absent here."""


class Repaired(dict[str, Any]):
    """An object that orjson rejected. Each half surrogate pair in it is replaced by U+FFFD."""

    __slots__ = ("halves",)

    def __init__(self, mended: dict[str, Any], halves: dict[str, Any]) -> None:
        super().__init__(mended)
        self.halves = halves
        """The same object with half surrogate pairs, because the next line may have the other half."""


def parse(data: bytes) -> object:
    """Return the JSON value of a line. An object that orjson rejected is `Repaired`. Raise `ValueError` if
    the line is not JSON, or it is nested deeper than Python can parse."""
    import orjson  # 20 ms: a prompt reads fields without it

    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return parse_leniently(data)


def parse_leniently(data: bytes) -> object:
    """Return the JSON value of a line that orjson rejected: a BOM, NaN, invalid UTF-8, or half a
    surrogate pair, which agents send when they split a text inside an emoji. What cannot be decoded
    becomes U+FFFD, a number of more than 20 digits a string. Raise `ValueError` as `parse` does."""
    try:
        value = _decoder().decode(data.removeprefix(_BOM).decode("utf-8", "replace"))
        return Repaired(_mended(value), value) if isinstance(value, dict) else _mended(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def line_object(*pieces: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line, None for anything else. `pieces` have no line ends: raw line ends
    inside a string have split the line, as users of the real agent have reported."""
    try:
        value = parse(joined(pieces))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def joined(pieces: Sequence[bytes]) -> bytes:
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


def digest_of(words: str) -> int:
    """Return a number that stands for a text. The state of a decoder goes to another process, in which `hash`
    returns other numbers."""
    from hashlib import blake2b  # takes 2 ms to import

    return int.from_bytes(blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_INTEGER else digits


@cache
def _decoder() -> JSONDecoder:
    """Return the decoder of all lines: making one takes as long as rejecting a short line with it."""
    from json import JSONDecoder

    return JSONDecoder(parse_int=_whole_number)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {whole_text(key): _mended(item) for key, item in value.items()}
    return value
