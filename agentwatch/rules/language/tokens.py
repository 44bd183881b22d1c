"""Splits a rule into parentheses, `OR`, `-` and terms."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from agentwatch.rules.language.errors import RuleError, quoted

MOST_CHARACTERS = 4000
_HEAD = re.compile(r"([A-Za-z_][A-Za-z_0-9-]{0,40})(:|>=|<=|>|<)")
PATTERN = "re:/"
"""The beginning of a regular expression."""


class Sign(Enum):
    """The kind of a token."""

    OPEN = auto()
    CLOSE = auto()
    OR = auto()
    NOT = auto()
    TERM = auto()


class Token(NamedTuple):
    """A part of a rule."""

    sign: Sign
    at: int
    """The offset in the rule."""
    name: str = ""
    """The field of a term; empty for a word without a field."""
    operator: str = ""
    """`:`, `>`, `>=`, `<` or `<=`; empty for a word without a field."""
    value: str = ""
    is_quoted: bool = False
    is_pattern: bool = False
    """Whether the value is a regular expression: `re:/…/`."""


def tokens(text: str) -> list[Token]:
    """Split a rule. A parenthesis groups at the beginning of a word: `f(x)` is a word. A word that begins
    with `--` is text. Raise `RuleError` if the rule is too long, a quote or a regular expression has no end,
    or a `)` no beginning."""
    if len(text) > MOST_CHARACTERS:
        raise RuleError(f"a rule has at most {MOST_CHARACTERS:,} characters, this one has {len(text):,}")
    found: list[Token] = []
    at = depth = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
        elif char == "(":
            found.append(Token(Sign.OPEN, at))
            depth += 1
            at += 1
        elif char == ")" and depth:
            found.append(Token(Sign.CLOSE, at))
            depth -= 1
            at += 1
        elif char == "-" and text[at + 1 : at + 2] != "-":
            if not text[at + 1 : at + 2].strip():
                raise RuleError('"-" needs a term after it, without a blank', at)
            found.append(Token(Sign.NOT, at))
            at += 1
        else:
            token, at = _term(text, at, depth)
            found.append(token)
    return found


def _term(text: str, start: int, depth: int) -> tuple[Token, int]:
    """Return the term at an offset, and the offset after it."""
    head = _HEAD.match(text, start)
    if head is None or _is_address(text, head.end(), head[1]) or text.startswith(PATTERN, start):
        value, end, is_quoted, is_pattern = _value(text, start, depth)
        if value == "OR" and not is_quoted:
            return Token(Sign.OR, start), end
        return Token(Sign.TERM, start, "", "", value, is_quoted, is_pattern), end
    if text.startswith("(", head.end()):
        raise RuleError(f"write ({head[1]}{head[2]}… OR {head[1]}{head[2]}…)", start)
    value, end, is_quoted, is_pattern = _value(text, head.end(), depth)
    return Token(Sign.TERM, start, head[1].lower(), head[2], value, is_quoted, is_pattern), end


def _is_address(text: str, at: int, name: str) -> bool:
    """Return whether a colon belongs to a text: `https://…`, `C:\\src`."""
    return text.startswith("//", at) or (len(name) == 1 and text[at : at + 1] in ("\\", "/"))


def _value(text: str, start: int, depth: int) -> tuple[str, int, bool, bool]:
    """Return a value, the offset after it, and whether it is quoted, or a regular expression."""
    if text.startswith('"', start):
        value, end = _until(text, start + 1, '"', start)
        _ends_word(text, end, depth)
        return value, end, True, False
    if text.startswith(PATTERN, start):
        value, end = _until(text, start + len(PATTERN), "/", start)
        _ends_word(text, end, depth)
        return value, end, True, True
    end = start
    inner = 0
    while end < len(text) and not text[end].isspace():
        if text[end] == "(":
            inner += 1
        elif text[end] == ")":
            if not inner:
                break
            inner -= 1
        end += 1
    if not depth and text.startswith(")", end):
        raise RuleError('a ")" has no "("; quote a word with ")" in it', end)
    return text[start:end], end, False, False


def _ends_word(text: str, at: int, depth: int) -> None:
    """Check that nothing follows a quote: `"a"b` would be two words."""
    if at < len(text) and not text[at].isspace() and not (text[at] == ")" and depth):
        raise RuleError(f"{quoted(text[at:])} follows a quote without a blank", at)


def _until(text: str, at: int, sign: str, start: int) -> tuple[str, int]:
    """Return the text up to a sign, and the offset after the sign.

    `\\` before the sign keeps it. In a quote, `\\\\` is one `\\`; a regular expression stays as it is.
    """
    pieces: list[str] = []
    while (char := text[at : at + 1]) != sign:
        if not char:
            what = "a quote" if sign == '"' else "a regular expression"
            raise RuleError(f"{what} has no end: {quoted(text[start:])}", start)
        if char == "\\" and (following := text[at + 1 : at + 2]) in (sign, "\\"):
            char = following if sign == '"' else char + following
            at += 1
        pieces.append(char)
        at += 1
    return "".join(pieces), at + 1
