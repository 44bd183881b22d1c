"""Reads the fields of a line that is too large to be parsed, from its head and its tail.

A result of a gigabyte still ends its run: `type`, `subtype` and `is_error` are in its head, and the fields
after the large text are in its tail.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from agentwatch.wire.json_line import parse

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],"]', re.DOTALL)
_MEMBER = re.compile(rb',(?=\s*"(?:[^"\\]|\\.)*"\s*:)')
_MOST_TRIES = 40
"""The number of members before the end of the tail that are tried as the first of an object."""


class Salvaged(dict[str, Any]):
    """The fields of a line that was read in part. An absent field may still be in the line."""


def salvage(head: bytes, tail: bytes) -> Salvaged:
    """Return the fields that are complete in the first and in the last bytes of an object."""
    return Salvaged({**_from_head(head), **_from_tail(tail)})


def _from_head(head: bytes) -> dict[str, Any]:
    """Return the fields that are complete before the text that continues beyond the head."""
    closers: list[bytes] = []
    whole, missing = 0, b""
    for token in _TOKEN.finditer(head):
        match token[0]:
            case b'"':
                break
            case b"{" | b"[":
                closers.append(b"}" if token[0] == b"{" else b"]")
                whole, missing = token.end(), b"".join(reversed(closers))
            case b"}" | b"]":
                del closers[-1:]
                whole, missing = token.end(), b"".join(reversed(closers))
            case b",":
                whole, missing = token.start(), b"".join(reversed(closers))
    return _fields(head[:whole] + missing)


def _from_tail(tail: bytes) -> dict[str, Any]:
    """Return the longest run of members at the end that is an object once it gets an opening brace."""
    found: dict[str, Any] = {}
    members = [member.end() for member in _MEMBER.finditer(tail)]
    for start in islice(reversed(members), _MOST_TRIES):
        found = _fields(b"{" + tail[start:]) or found
    return found


def _fields(data: bytes) -> dict[str, Any]:
    try:
        value = parse(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
