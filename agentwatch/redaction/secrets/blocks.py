"""Finds blocks of private keys and long tokens, whatever their length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.redaction.found import Found

_BEGIN = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}|Private-Lines:[ ]{0,2}[0-9]{1,4}"
)
_BODY = re.compile(r"[A-Za-z0-9+/=,:.?\s\\\"'>|_-]{0,1000}")
_LINE = re.compile(r"[\s\\\"'>+|,]{0,80}(?:[0-9]{1,6}[?:|\t][ ]?)?[A-Za-z0-9+/=]{16,1000}")
_TAIL_LINE = re.compile(
    r"[\s\\\"'>+|,]{0,80}(?:[0-9]{1,6}[?:|\t ][ ]?)?([A-Za-z0-9+/]{1,1000}={0,2})[\s\\\"'+,]{0,80}"
)
_RUN_OF_KEY = re.compile("[A-Za-z0-9+/]{16}")
_END_LINE = re.compile(r"-----END [A-Z0-9 ]{0,60}-{4,5}")
_BEGIN_LITERALS = ("PRIVATE KEY", "Private-Lines:")
_END_LITERAL = "-----END"
_LONGEST = 1 << 16
_RUN = re.compile("[A-Za-z0-9_-]{1,1000}")
_HEAD = "eyJ"
_FEWEST, _MOST = 3, 5
_SHORTEST = 8
"""Characters of a part. The second part of an encrypted token may be empty: its key was agreed before."""


def key_blocks(text: str) -> Iterator[Found]:
    """Yield the blocks of private keys in a plain text: to the end line, or to the last line of base64."""
    if not any(literal in text for literal in _BEGIN_LITERALS):
        return
    begin, closing = _BEGIN.search(text), 0
    while begin is not None:
        start = begin.end()
        if 0 <= closing < start:
            closing = text.find(_END_LITERAL, start)
        body_end = _end_of_body(text, start)
        end = body_end
        if 0 <= closing < start + _LONGEST and _is_body(text, start, closing):
            match = _END_LINE.match(text, closing)
            end = closing if match is None else match.end()
        if end > start:
            yield Found(begin.start(), end, "private key")
        begin = _BEGIN.search(text, max(start, end))
    yield from _key_tails(text)


def _key_tails(text: str) -> Iterator[Found]:
    """Yield the last lines of private keys whose first line is missing in a plain text."""
    at = text.find(_END_LITERAL)
    while at >= 0:
        match = _END_LINE.match(text, at)
        if match is not None and "PRIVATE KEY" in match[0]:
            start = _start_of_tail(text, at)
            if start < at:
                yield Found(start, match.end(), "private key")
        at = text.find(_END_LITERAL, at + 1)


def _start_of_tail(text: str, end: int) -> int:
    """Return where the lines of base64 begin that end at a place."""
    start, at = end, max(text.rfind("\n", 0, end), 0)
    while at > 0 and end - at < _LONGEST:
        before = text.rfind("\n", 0, at) + 1
        line = text[before:at]
        match = _TAIL_LINE.fullmatch(line)
        if match is None and line.strip(" \t\r\\\"',"):
            break
        if match is not None:
            start = before + match.start(1)
        at = before - 1
    has_line = start < end and _RUN_OF_KEY.search(text, start, end) is not None
    return start if has_line else end


def _end_of_body(text: str, start: int) -> int:
    """Return where the lines of base64 end that begin at a place, perhaps after lines of headers."""
    at = start
    while (match := _LINE.match(text, at)) is not None and at - start < _LONGEST:
        at = match.end()
    return at


def _is_body(text: str, start: int, end: int) -> bool:
    """Return whether a block has only characters of a key, its headers, and of quoting."""
    at = start
    while at < end:
        match = _BODY.match(text, at, end)
        if match is None or match.end() == at:
            return False
        at = match.end()
    return True


def signed_tokens(piece: str) -> Iterator[Found]:
    """Yield the JSON web tokens of a piece: parts of base64 with dots between, the first a JSON object."""
    at = piece.find(_HEAD)
    while at >= 0:
        end, parts = at, 0
        if at == 0 or not piece[at - 1].isalnum():
            end, parts = _parts(piece, at)
        has_two_objects = parts == _FEWEST - 1 and piece.startswith(_HEAD, piece.find(".", at) + 1)
        if parts >= _FEWEST or has_two_objects:
            yield Found(at, end, "jwt")
        at = piece.find(_HEAD, max(end, at + 1))


def _parts(piece: str, start: int) -> tuple[int, int]:
    """Return where a token ends, and the number of its parts; 0 if one is too short."""
    end, parts = start, 0
    while parts < _MOST:
        first = end
        while match := _RUN.match(piece, end):
            end = match.end()
        if end - first < _SHORTEST and not (parts == 1 and piece.startswith(".", end)):
            break
        parts += 1
        if not piece.startswith(".", end):
            return end, parts
        end += 1
    return end - 1, parts
