"""Finds values by the label before them, such as `DB_PASSWORD=` or `"apiKey": `."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.label_words import STEMS, Category, category_of
from agentwatch.redaction.secrets.values import is_password, is_random

_REST = re.compile("[A-Za-z0-9_-]{0,40}")
"""What an identifier has after the stem of its label."""
_CLOSE = r"[\\\"'`\])* \t]{0,12}"
_WRAP = r"[A-Za-z_.:@$&-]{0,40}\(?[ ]{0,2}"
"""What may stand before a quote: the prefix of a string, or a call."""
_QUOTED = rf"(?:{_WRAP}\"([^\"\n]{{3,600}})|{_WRAP}'([^'\n]{{3,600}})|{_WRAP}`([^`\n]{{3,600}}))"
_BARE = r"([^\s\"'`,;<>]{3,300})"
_QUOTES = 3
"""The number of groups of quoted values, which come first."""
_SIGN = r"(?:[:?.+|~*!]{0,2}={1,3}>?|:{1,2}|->|\|\|)"
_ASSIGNED = re.compile(
    rf"{_CLOSE}{_SIGN}[ \t]{{0,16}}"
    rf"(?:\*\*[ ]{{1,4}}|[\"'][ ]{{1,2}}|[A-Za-z_.]{{1,40}}\([\"'][^\"'\n]{{1,60}}[\"'],[ ]{{0,2}})?"
    rf"(?:{_QUOTED}|{_BARE})"
)
_TYPED = re.compile(
    rf"[ \t]{{0,4}}:?[ \t]{{1,4}}(?:&'static[ ])?[A-Za-z&*?\[<][A-Za-z0-9_&<>\[\].?*]{{0,40}}"
    rf"(?:[ ]\|[ ][A-Za-z0-9_]{{1,20}}){{0,2}}[ ]{{0,2}}=[ \t]{{0,4}}{_QUOTED}"
)
_PASSED = re.compile(
    rf"(?:[\"'`\])]{{0,3}}[ \t]{{0,4}},\s{{0,40}}|[\"'][ \t]{{1,8}}|\([ \t]{{0,4}}|[ \t]{{1,8}}){_QUOTED}"
)
_ELEMENT = re.compile(
    r"(?:[ \t][^<>\n]{0,60})?>\s{0,40}(?:<!\[CDATA\[)?"
    r"([^<>\s\[\]]{3,600})(?:\]\]>)?\s{0,40}</"
)
_VALUE = re.compile(
    rf"[\"']?(?:(?:,|[ ]{{0,2}}\{{)?\s{{1,60}}[\"']?(?:value|Value|VALUE|content|default)"
    rf"[\"']?[ ]{{0,2}}[:=][ ]{{0,4}}"
    rf"|</key>\s{{0,60}}<string>)(?:{_QUOTED}|{_BARE})"
)
_BESIDE = re.compile(rf"(?:[ \t*`]{{0,4}}\|[ \t*`]{{0,4}}|[ \t]{{1,16}})(?:is[ \t:=]{{1,3}})?{_BARE}")
_BELOW = re.compile(
    rf"{_CLOSE}[:=]{{0,2}}[ \t]{{0,4}}\n\s{{0,40}}[`]{{0,3}}\n?"
    r"([A-Za-z0-9+/_.~-]{14,300}={0,2})[`]{0,3}[ \t]{0,4}(?:\n|$)"
)
_MEMBER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,40}\.[A-Za-z_$][A-Za-z0-9_$]{0,40}[?:!|&=+*-]")
"""A member of an object in code without spaces, with an operator after it."""

_CLOSING = "\\\"'`])* \t"
_WAYS = (
    (((_ASSIGNED, _CLOSING + ":?.+|~!=-"), (_TYPED, " \t:")), False),
    (
        (
            (_PASSED, "\"'`]), \t("),
            (_ELEMENT, " \t>"),
            (_VALUE, "\"', \t\n<"),
            (_BESIDE, " \t*`|"),
            (_BELOW, _CLOSING + ":=\n"),
        ),
        True,
    ),
)
"""The syntax between a label and its value, with the characters that may begin it; whether it is loose."""
_FOLLOWING = re.compile(
    r"[\"'`\])]{0,3}(?:[ \t]{1,16}(?:is[ \t:=]|[^\sA-Za-z})\];]"
    r"|[A-Za-z_]{1,40}(?:[^A-Za-z_\s,;.)(]|[ ]{1,2}[=|<]))|[:=|*(,>\\\n]|[?.+~!-]{1,2}[=>]|</key>)"
)
"""What follows a label that has a value, in short: most labels of code have none."""
_IDENTIFIER = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_SEPARATORS = str.maketrans("", "", "_-")
_LONGEST = 40
_REACH = 12
_NAMES = ("pass", "pwd", "secret", "token", "auth", "key", "cred")
_SHORTEST_LETTERS = 10
_LEAST_LOOSE = 20
_LEAST_WEAK, _LEAST_BESIDE, _LEAST_GENERATED, _LEAST_CHOSEN = 14, 14, 12, 8


class _Label(NamedTuple):
    """The label of a value."""

    category: Category
    is_option: bool
    """Whether it is an option of a command, such as `--token`."""
    is_query: bool
    """Whether it is a parameter in an address."""


def labelled(piece: str, lower: str) -> Iterator[Found]:
    """Yield the values of a piece that have the label of a secret.

    Args:
        piece: A piece of a plain text.
        lower: The same in lower case.
    """
    for stem in STEMS:
        at = lower.find(stem)
        while at >= 0:
            after = at + len(stem)
            rest = _REST.match(piece, after)
            end = after if rest is None else rest.end()
            if _FOLLOWING.match(piece, end):
                label = _label(piece, lower, stem, at)
                found = None if label is None else _value(piece, label, end)
                if found is not None:
                    yield found
                    after = max(after, found.start)
            at = lower.find(stem, after)


def _label(piece: str, lower: str, stem: str, at: int) -> _Label | None:
    """Return the label that has a stem at a place; None if it labels no secret."""
    end = at + len(stem)
    before = piece[max(0, at - _LONGEST) : at]
    head = before[len(before.rstrip(_IDENTIFIER)) :]
    first = at - len(head)
    is_query = first > 0 and piece[first - 1] in "?&"
    if not head and before[-1:] == " " and before[-2:-1].isalnum():  # two words, such as API key
        head = before[len(before[:-1].rstrip(_IDENTIFIER)) : -1] + "_"
    category = category_of(
        stem,
        head.lower().translate(_SEPARATORS),
        lower[end : end + _REACH].translate(_SEPARATORS),
        begins=not head[-1:].isalpha() or (head[-1].islower() and piece[at].isupper()),
        is_query=is_query,
    )
    return None if category is None else _Label(category, head.startswith("-"), is_query)


def _value(piece: str, label: _Label, at: int) -> Found | None:
    """Return the secret that follows a label whose identifier ends at a place."""
    after = piece[at : at + 1]
    for patterns, loose in _WAYS:
        for pattern, beginnings in patterns:
            match = pattern.match(piece, at) if after in beginnings else None
            if match is not None:
                beside = pattern is _BESIDE or pattern is _BELOW
                found = _judged(match, label, loose=loose and not (beside and label.is_option), beside=beside)
                if found is not None and (pattern is not _BELOW or _has_digit(match[1])):
                    return found
    return None


def _judged(match: re.Match[str], label: _Label, *, loose: bool, beside: bool = False) -> Found | None:
    """Return the value of a match if it is a secret."""
    group = match.lastindex or 1
    value, start = match[group], match.start(group)
    is_quoted = match.re.groups >= _QUOTES and group <= _QUOTES
    if not is_quoted:
        value = _cut(value, label)
    start += len(value) - len(value.lstrip())
    value = value.strip()
    if not _is_secret(value, label.category, loose=loose, beside=beside, quoted=is_quoted):
        return None
    return Found(start, start + len(value), "key" if label.category == "weak" else label.category)


def _cut(value: str, label: _Label) -> str:
    """Return a value that is not quoted without what follows it; empty if it is code or another label."""
    if "(" in value or value.startswith(("[", "{")) or _MEMBER.match(value):
        return ""
    head, _, tail = value.partition("=")
    if head.isalpha() and tail.strip("="):
        return ""
    if label.is_query or ("&" in value and "=" in value.partition("&")[2]):
        value = value.partition("&")[0].partition("#")[0]
    for opening, closing in ("()", "[]", "{}"):
        if closing in value and opening not in value:
            value = value.partition(closing)[0]
    return value.rstrip("\\.:*|")


def _is_secret(value: str, category: Category, *, loose: bool, beside: bool, quoted: bool) -> bool:
    """Return whether a value after a label of a category is a secret.

    Args:
        value: The value.
        category: What its label labels.
        loose: Whether no sign assigns the value to the label.
        beside: Whether the value is the next word only.
        quoted: Whether it is in quotes.
    """
    if len(value) < _SHORTEST_LETTERS and value.isalpha():
        return False
    if category == "weak":
        if beside or (loose and not quoted):
            return False
        return _has_digit(value) and is_random(value, _LEAST_LOOSE if loose else _LEAST_WEAK)
    if category == "password":
        if not is_password(value) or (not quoted and _names_a_secret(value)):
            return False
        if not loose:
            return True
        return _has_digit(value) and (not beside or _is_strong(value) or is_random(value))
    if is_random(value, _LEAST_BESIDE if beside else _LEAST_GENERATED):
        return True
    return (
        category in {"secret", "credential"}
        and not loose
        and len(value) >= _LEAST_CHOSEN
        and _has_digit(value)
        and is_password(value)
        and not _names_a_secret(value)
    )


def _has_digit(value: str) -> bool:
    """Return whether a value has a digit."""
    return any(map(str.isdigit, value))


def _names_a_secret(value: str) -> bool:
    """Return whether a value has the words of a label, as a variable has."""
    lower = value.lower()
    return value.isidentifier() and any(name in lower for name in _NAMES)


def _is_strong(value: str) -> bool:
    """Return whether a value beside a label is a password rather than the next word."""
    symbols = any(not char.isalnum() and char not in "._-/:=" for char in value)
    cases = any(map(str.isupper, value)) and any(map(str.islower, value))
    return len(value) >= _LEAST_CHOSEN - 1 and (symbols or cases)
