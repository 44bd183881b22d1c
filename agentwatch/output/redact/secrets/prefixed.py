"""Finds tokens that begin with letters of their vendor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from agentwatch.output.redact.decoding import colours
from agentwatch.output.redact.mask import Found
from agentwatch.output.redact.secrets.rules import RULES
from agentwatch.output.redact.secrets.values import has_placeholder, is_random, run_of

LONG_WORD = 14
"""Only words that are longer than this are given to the searches."""
_HEAD = 4
"""The characters of a word by which the prefixes that may be in a text are chosen."""
_WORD_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
SPLITTING = bytes(char if char in _WORD_CHARACTERS else 32 for char in range(256))
"""A table that leaves only the words of letters and digits."""
_LONG = 240
"""Tokens that are longer have no length of their own: all that follows belongs to them."""
_LEADING = re.compile("[A-Za-z0-9]{0,99}")
_RUN = re.compile(r"(?:\(\?:[^()]{1,20}\)\?)?\[(?:[A-Za-z0-9](?:-[A-Za-z0-9])?){1,8}\]\{([0-9]{1,3})[,}]")
"""A pattern of which every match has as many letters and digits in a row."""


@cache
def body(source: str) -> re.Pattern[str]:
    """Return the compiled pattern of what follows a prefix."""
    return re.compile(source)


def least_run(pattern: str) -> int:
    """Return how many letters and digits in a row every match of a pattern has, by its beginning.

    Example:
        >>> least_run("[A-Za-z0-9]{25}"), least_run("[A-Za-z0-9_-]{25}")
        (25, 0)
    """
    match = _RUN.match(pattern)
    return int(match[1]) if match is not None else 0


_LEAST_RUNS = tuple(least_run(rule.body) for rule in RULES)


def _by_head(*, whole: bool) -> dict[str, list[tuple[int, str]]]:
    """Return the places of rules with their prefixes, by the head of the word that they begin with. `whole`
    selects the prefixes that have a whole word, or its head; otherwise those that have less."""
    found: dict[str, list[tuple[int, str]]] = {}
    for at, rule in enumerate(RULES):
        for prefix in rule.prefixes.split():
            word = prefix.lstrip("_|^$")
            match = _LEADING.match(word)
            leading = match[0] if match is not None else ""
            if whole == (len(leading) >= _HEAD or len(leading) < len(word)):
                found.setdefault(leading[:_HEAD], []).append((at, prefix))
    return found


_WHOLE, _PARTS = _by_head(whole=True), _by_head(whole=False)


def tokens(piece: str, words: set[str], heads: set[str]) -> Iterator[Found]:
    """Yield the tokens in a piece, in the order of the rules. `heads` are the first four characters of each
    of its words."""
    rules = [rule for head in heads & _WHOLE.keys() for rule in _WHOLE[head]]
    if words:
        rules += [
            rule
            for part in {word[:size] for word in words for size in (1, 2, 3)} & _PARTS.keys()
            for rule in _PARTS[part]
        ]
    longest = max(map(len, words), default=LONG_WORD)
    for at, prefix in sorted(rules):
        if longest >= _LEAST_RUNS[at] and prefix in piece:
            yield from _of_rule(piece, prefix, at)


def may_begin(run: str) -> bool:
    """Return whether some characters of tokens may begin with the letters of a vendor."""
    words = run.encode("ascii").translate(SPLITTING).decode("ascii").split()
    return any(word[:_HEAD] in _WHOLE or any(word[:size] in _PARTS for size in (2, 3)) for word in words)


def _of_rule(piece: str, prefix: str, at: int) -> Iterator[Found]:
    """Yield the tokens of a rule that begin with one of its prefixes."""
    rule = RULES[at]
    match_body = body(rule.body).match
    start = piece.find(prefix)
    while start >= 0:
        end = start + len(prefix)
        if not prefix[0].isalnum() or _begins(piece, start, prefix):
            match = match_body(piece, end)
            if match is not None:
                value = match[0].rstrip(".")
                end += len(value)
                if len(value) > _LONG:
                    end += run_of(piece, end)
                if not piece[end : end + 1].isalnum() and _may_be(value, weak=rule.weak):
                    yield Found(start, end, rule.kind)
        start = piece.find(prefix, end)


def _begins(piece: str, start: int, prefix: str) -> bool:
    """Return whether a word begins at a place, not in the middle of base64."""
    if not start:
        return True
    before = piece[start - 1]
    if before.isalnum():
        return False
    return before not in "+/" or not prefix.isalnum() or not piece[max(0, start - 9) : start - 1].isalnum()


def _may_be(value: str, *, weak: bool) -> bool:
    """Return whether what follows a prefix may be a token's."""
    if weak:
        return any(map(str.isdigit, value)) and is_random(value, 12)
    return not has_placeholder(value) and not value.endswith("EXAMPLE")


_UNICODE_ESCAPE = re.compile(r"\\u00([0-7][0-9a-fA-F])")
_ESCAPES = (("\\n", "\n\n"), ("\\r", "\n\n"), ("\\t", "\t\t"), ('\\"', ' "'), ("\\'", " '"), ("\\/", " /"))
_QUOTES = (
    "\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f",
    "\u2018\u2019\u201a\u201b\u2039\u203a",
)
_SIGNS = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **{ord(sign): ord('"') for sign in _QUOTES[0]},
    **{ord(sign): ord("'") for sign in _QUOTES[1]},
    **dict.fromkeys((0xA0, 0x2007, 0x202F, 0x3000), ord(" ")),
    **dict.fromkeys((0xFE55, 0xFE13, 0x2236, 0xA789), ord(":")),
    0xFE66: ord("="),
}
"""Signs, letters and quotes outside ASCII that mean the same as those in it."""
_SIGN = re.compile(f"[{''.join(map(chr, _SIGNS))}]")


def plain(text: str) -> str:
    r"""Return a text with one ASCII character for each character of the given one.

    A colour becomes spaces. An escape such as `\n`, which texts of JSON in JSON have, becomes what it stands
    for, with spaces before it. Full-width signs become those of ASCII, other characters outside it `?`.
    """
    if not text.isascii():
        text = _SIGN.sub(lambda match: chr(_SIGNS[ord(match[0])]), text)
        text = text.encode("ascii", "replace").decode("ascii")
    for pattern in colours(text):
        text = pattern.sub(_blank, text)
    if "\\" in text:
        for escape, meaning in _ESCAPES:
            text = text.replace(escape, meaning)
        if "\\u00" in text:
            text = _UNICODE_ESCAPE.sub(_meaning, text)
    return text


def _blank(match: re.Match[str]) -> str:
    """Return spaces in place of a match."""
    return " " * len(match[0])


def _meaning(match: re.Match[str]) -> str:
    """Return the character of a hexadecimal escape, with spaces before it."""
    return chr(int(match[1], 16)).rjust(len(match[0]))
