"""Finds tokens that a terminal or a program has wrapped over lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from agentwatch.redaction.decoding import rewritten
from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.prefixed import may_begin
from agentwatch.redaction.secrets.values import is_name

_BREAK = re.compile(r"\n(?:[A-Za-z0-9_+/=.~-]{2}|[ \t]{0,40}(?:[+.&][ ]{0,2})?[\"'`][A-Za-z0-9])")
_NEXT = re.compile(r"[A-Za-z0-9_+/=.~-]{1,600}")
_QUOTED_END = re.compile(r"[\"'`][ \t]{0,2}[+.&\\]?[ \t]{0,2}\r?$")
_INDICATION = re.compile("(?i)pass|pwd|secret|token|key|cred|auth|bearer|sig|cookie|eyJ|://")
_OF_TOKENS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.~-"
_NOT_AFTER = frozenset(":=(")
_LEAST = 8
_LONGEST = 200
_WIDE = 60
"""The least width of a terminal, in characters: a shorter line was not wrapped by one."""
OPEN_KINDS = frozenset(
    {
        *(
            "address code",
            "authorization",
            "basic auth",
            "bearer token",
            "cookie",
            "credential",
            "curl",
            "http",
        ),
        *("key", "key file", "minio", "password", "secret", "smb", "token", "url password", "url token"),
    }
)
"""The kinds of values that have no length of their own."""


def wrapped(text: str, whole: Iterable[Found], find: Callable[[str], Iterable[Found]]) -> Iterator[Found]:
    """Yield the secrets that go on in the next line.

    Args:
        text: The text.
        whole: What was found in it.
        find: Finds the secrets of a text.
    """
    breaks = sorted({*_breaks(text)})
    if not breaks:
        return
    joined = rewritten(text, [(start, end, "") for start, end in breaks])
    found = [(*joined.span(each.start, each.end), each.kind) for each in find(joined.text)]
    if not found:
        return
    ended = {each.end for each in whole}
    for start, end, kind in found:
        inside = [each for each in breaks if start < each[0] and each[1] < end]
        if inside and _goes_on(
            text, inside, end, is_known=kind not in OPEN_KINDS and inside[0][0] not in ended
        ):
            yield Found(start, end, kind)


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of what separates two lines that may be one token."""
    done = 0
    for match in _BREAK.finditer(text):
        at, end = match.start(), match.end()
        is_quoted = text[end - 2] in "\"'`"
        if not is_quoted and " " in text[at - _LEAST : at]:
            continue
        first = max(done, at - _LONGEST, text.rfind("\n", max(0, at - _LONGEST), at) + 1)
        line = text[first:at]
        if is_quoted:
            quote = _QUOTED_END.search(line)
            if quote is None:
                continue
            line, end = line[: quote.start()], end - 1
        else:
            line, end = line.rstrip("\r\\"), at + 1
        run = line[len(line.rstrip(_OF_TOKENS)) :]
        if len(run) >= _LEAST and not _is_word(run.rstrip("=")) and _may_go_on(text, end):
            goes_on = first == done > 0
            if goes_on or _INDICATION.search(line) or may_begin(run):
                yield first + len(line), end
                done = end


def _may_go_on(text: str, at: int) -> bool:
    """Return whether the line that begins at a place may go on with a token of the line before."""
    match = _NEXT.match(text, at)
    if match is None or "=" in match[0].rstrip("="):
        return False
    following = text[match.end() : match.end() + 1]
    return not (following and following in _NOT_AFTER) and not (
        _is_word(match[0]) and following in {" ", "\t"}
    )


def _is_word(run: str) -> bool:
    """Return whether some characters of tokens are a word, or have no letters and digits."""
    return (run.isalpha() and run[1:].islower()) or not any(map(str.isalnum, run))


def _goes_on(text: str, breaks: list[tuple[int, int]], end: int, *, is_known: bool) -> bool:
    """Return whether the line after a break continues a token, rather than begin with another word."""
    tail = text[breaks[-1][1] : end]
    if "=" in tail.rstrip("=") or ":" in tail or text[end : end + 1] in _NOT_AFTER:
        return False
    is_mixed = any(map(str.isdigit, tail)) and not is_name(tail)
    if is_known or is_mixed:
        return True
    start = breaks[0][0]
    is_wide = start - text.rfind("\n", 0, start) > _WIDE
    return is_wide and not _is_word(tail)
