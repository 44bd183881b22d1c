"""Finds secrets by the syntax around them, and whole blocks of private keys."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from functools import cache

from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.context_rules import CONTEXTS, Judgement
from agentwatch.redaction.secrets.prefixed import least_run
from agentwatch.redaction.secrets.values import (
    is_code,
    is_password,
    is_placeholder,
    is_random,
    run_of,
)

_LEADING = re.compile("[^a-z0-9]{0,9}([a-z0-9]{0,99})")
_HEAD = 4
_WORDS = frozenset(
    {"password", "passwd", "pass", "pwd", "secret", "token", "pw", "mypassword", "port", "auth"}
)
_TAIL = 36
"""The last characters of a token, which are generated."""
_HEX = re.compile("[0-9a-f]{28,36}$|-[0-9a-f]{12}$")
_SHORTEST = 4
_LONG = 900


@cache
def compiled(source: str) -> re.Pattern[str]:
    """Return the compiled pattern of a context."""
    return re.compile(source)


def _by_head() -> dict[str, list[int]]:
    """Return the places of the contexts by the head of the word in their literal; "" for those without."""
    found: dict[str, list[int]] = {}
    for at, context in enumerate(CONTEXTS):
        match = _LEADING.match(context.literal)
        word = match[1] if match is not None and not context.inside else ""
        found.setdefault(word[:_HEAD], []).append(at)
    return found


_BY_HEAD = _by_head()
_BEGINS = tuple(
    context.pattern.removeprefix("(?i)").removeprefix("\\b").replace("\\", "").startswith(context.literal)
    for context in CONTEXTS
)
"""Whether the pattern of a context begins with its literal."""
_LEAST_RUNS = tuple(least_run(context.pattern) for context in CONTEXTS)


def surrounded(piece: str, lower: str, heads: set[str], longest: int) -> Iterator[Found]:
    """Yield the secrets of a piece that syntax shows.

    Args:
        piece: A piece of a plain text.
        lower: The same in lower case.
        heads: The first four characters of each of its words, in lower case.
        longest: The length of its longest word of letters and digits, or more.
    """
    likely = [at for head in (heads | {""}) & _BY_HEAD.keys() for at in _BY_HEAD[head]]
    for at in sorted(likely):
        context = CONTEXTS[at]
        if longest >= _LEAST_RUNS[at] and context.literal in lower:
            for match in _matches(at, piece, lower):
                group = match.lastindex or 0
                start, end = match.span(group)
                if _holds(context.judgement, match[group]):
                    if end - start > _LONG:
                        end += run_of(piece, end)
                    yield Found(start, end, context.kind)


def _matches(number: int, piece: str, lower: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a context: from each place of its literal if its pattern begins with that."""
    literal, pattern = CONTEXTS[number].literal, compiled(CONTEXTS[number].pattern)
    if not _BEGINS[number]:
        yield from pattern.finditer(piece)
        return
    at = lower.find(literal)
    while at >= 0:
        match = pattern.match(piece, at)
        if match is not None:
            yield match
        at = lower.find(literal, at + 1 if match is None else match.end())


def _holds(judgement: Judgement, value: str) -> bool:
    """Return whether a value is what its context needs."""
    if judgement == "any":
        return True
    if judgement == "cookie":
        return any(
            is_random(pair.rpartition("=")[2].strip().rpartition(":")[2], 12) for pair in value.split(";")
        )
    if is_placeholder(value) or is_code(value):
        return False
    if judgement == "random":
        return is_random(value, 16)
    if judgement == "generated":
        return _is_generated(value[-_TAIL:])
    if judgement == "password":
        return is_password(value) or is_random(value, 12)
    if judgement == "base64":
        return _is_pair(value)
    if judgement == "bearer":
        return is_random(value, 12) or (len(value) >= 16 and any(map(str.isdigit, value)))
    return len(value) >= _SHORTEST and value.lower() not in _WORDS


def _is_generated(value: str) -> bool:
    """Return whether a value has digits and both cases, or only hexadecimal digits, in any order."""
    if not any(map(str.isdigit, value)) or not is_random(value, 20):
        return False
    return _HEX.search(value) is not None or (value != value.lower() and value != value.upper())


def _is_pair(value: str) -> bool:
    """Return whether a value is a name and a password in base64."""
    try:
        decoded = b64decode(value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and all(byte >= 32 for byte in decoded)
