"""Reads the fields of a line that is too large to be parsed from the head and the tail of the line.

Even a result line of a gigabyte ends its run this way: `type`, `subtype` and `is_error` are in its head, and
the fields after the large text are in its tail.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from agentwatch.wire.json_line import parse

_TOKEN = rb'(?s)"(?:[^"\\]++|\\.)*+("?)|[{}\[\],]'
"""Matches a string or a mark outside strings. The group of a string is empty if it has no end."""
_MEMBER = rb'(?s),(?=\s*+"(?:[^"\\]++|\\.)*+"\s*+:)'
"""Both are compiled when they are used: few recordings have such a line."""
_MOST_TRIES = 40
"""The number of members, counted from the end of the tail, that are tried as the first of an object."""


class Salvaged(dict[str, Any]):
    """The fields of a line that was only partly read. The line may also have fields that are absent here."""


def salvage(head: bytes, tail: bytes) -> Salvaged:
    """Return the fields of an object that are complete in its head or in its tail."""
    return Salvaged({**_from_head(head), **_from_tail(tail)})


def _from_head(head: bytes) -> dict[str, Any]:
    """Return the fields that are complete before the text that continues beyond the head."""
    closers: list[bytes] = []
    whole = 0
    for token in re.finditer(_TOKEN, head):
        match token[0]:
            case b"{" | b"[":
                closers.append(b"}" if token[0] == b"{" else b"]")
                whole = token.end()
            case b"}" | b"]":
                del closers[-1:]
                whole = token.end()
            case b",":
                whole = token.start()
            case _ if not token[1]:
                break
    return _fields(head[:whole] + b"".join(reversed(closers)))


def _from_tail(tail: bytes) -> dict[str, Any]:
    """Return the longest run of members at the end that is an object after an added opening brace."""
    found: dict[str, Any] = {}
    members = [member.end() for member in re.finditer(_MEMBER, tail)]
    for start in islice(reversed(members), _MOST_TRIES):
        found = _fields(b"{" + tail[start:]) or found
    return found


def _fields(data: bytes) -> dict[str, Any]:
    try:
        value = parse(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
