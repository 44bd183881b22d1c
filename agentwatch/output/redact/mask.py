"""The places in a text that are masked, and the words that replace them."""

from __future__ import annotations

import hmac
import secrets
from typing import NamedTuple

Heads = set[str]
"""The first four characters of each word of a piece of text, in lower case."""


class Found(NamedTuple):
    """The span of a secret or of personal data: the value alone, without its label or quotes."""

    start: int
    end: int
    kind: str
    """The kind of value, such as `github` or `password`: two words at most, never a part of the value."""


def joined(found: list[Found]) -> list[Found]:
    """Return spans in order; overlapping ones become one, of the kind that comes first in the list."""
    result: list[Found] = []
    rank = {id(each): at for at, each in enumerate(found)}
    ranks: list[int] = []
    for each in sorted(found, key=lambda each: (each.start, rank[id(each)])):
        if result and each.start < result[-1].end:
            last = result[-1]
            kind = last.kind if ranks[-1] <= rank[id(each)] else each.kind
            ranks[-1] = min(ranks[-1], rank[id(each)])
            result[-1] = Found(last.start, max(last.end, each.end), kind)
        else:
            result.append(each)
            ranks.append(rank[id(each)])
    return result


HOME = "home folder"
USER = "user name"
E_MAIL = "e-mail"
PERSONAL = frozenset({HOME, USER, E_MAIL})
"""The kinds of personal data; every other kind is a secret."""
_TAIL = 4


class Masks:
    """Makes masks with one random key, so that equal values get equal masks in one export only.

    The tail of a mask is 4 hexadecimal digits of an HMAC. Without the key nobody can try values against it.
    `key` is None for a random one.

    Example:
        >>> Masks(b"key").mask("hunter2", "password")
        '[secret:password 05d2]'
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(32) if key is None else key

    def mask(self, value: str, kind: str) -> str:
        if kind == HOME:
            return "~"
        data = value.encode("utf-8", "surrogatepass")
        tail = hmac.digest(self._key, data, "sha256").hex()[:_TAIL]
        if kind == USER:
            return f"user-{tail}"
        return f"[{kind} {tail}]" if kind in PERSONAL else f"[secret:{kind} {tail}]"
