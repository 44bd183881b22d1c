"""Judges whether a value is a secret, or a word, a placeholder, a variable or a path."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

_PLACEHOLDERS = re.compile(
    r"(?:^|[^a-z0-9])(?:your|my[_-]|example|replace|insert|dummy|sample|todo|some[_-])|[_-]here|example$"
    r"|xxxx|abcdefghijkl|\*\*\*|\.\.\.|change.?me|placeholder|redacted|secret:|not.?set|&lt|&#|<|>|\$\{|\{\{|\$\(|#\{|%\("
)
_REFERENCE = re.compile(
    r"(?:\$\{?[A-Za-z_(]|[&*@][A-Za-z_])[A-Za-z0-9_.:-]{0,60}[})]?$|%[A-Za-z_]{2,40}%|!(?:Ref|Sub|GetAtt|Join|vault|ENV|secret)\b"
    r"|\$[({]|(?:process|import|os|env|secrets?|vars?|config|settings|self|this|data|local|args?"
    r"|options|opts|params|props|request|req|ctx|module|output|input|context|inputs|steps|github|values?)"
    r"\.[A-Za-z_]|\{[A-Za-z_ %]|\[[A-Za-z_]|[A-Za-z_][A-Za-z0-9_.:>-]{0,60}[([]"
)
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}(?:\??[.:]{1,2}[A-Za-z_][A-Za-z0-9_]{0,60}){1,8}")
_PATH = re.compile(r"(?:\.{0,2}/|~/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]{1,20}:/)")
_VERSION = re.compile(r"[v^~=<>]{0,3}[0-9]{1,5}\.[0-9]{1,5}[0-9A-Za-z.+_-]{0,60}")
_DATE = re.compile(r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,40}|[A-Z]{3,40}")
_PART = re.compile(r"[A-Za-z0-9]{1,600}")
_WORD_OR_NUMBER = re.compile(r"[A-Z]?[a-z]{1,40}[0-9]{0,12}|[A-Z]{1,40}[0-9]{0,12}|[0-9]{1,20}")
_CLUSTER = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{5,20}")
_RARE = re.compile(
    r"(?i)q[a-tv-z]|[vjxz][bcdfgjkmpqtvwxz]|[bcdfghkmnpqwz]x[bdgjkmnqrsvwz]|[bcfgkpqvwz]j|[fghjmqvwx]z"
)
_TERMS = frozenset(
    [
        "ascii",
        "base64",
        "base64url",
        "binary",
        "hex",
        "latin-1",
        "latin1",
        "md5",
        "sha1",
        "sha256",
        "sha512",
        "utf-16",
        "utf-8",
        "utf16",
        "utf8",
    ]
)
_UPPER = re.compile(r"[A-Z]{2}")
_RISES = re.compile(r"[a-z][A-Z]")
_CHANGES = re.compile(r"[0-9]{1,600}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HASH_NAME = re.compile(r"(?i)(?:sha[0-9]{1,3}|md5|h1)[-:=]")
_FEWEST_CHARACTERS = 5
_OF_TOKENS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.-"
_LONGEST = 4096
_PASSWORD_ENTROPY, _TOKEN_ENTROPY = 2.25, 2.8


def entropy(value: str) -> float:
    """Return the bits for each character of a value, as its own characters are distributed."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values()) if size else 0.0


def has_placeholder(value: str) -> bool:
    """Return whether a value has the words of one that somebody has to fill in, or is a mask."""
    return _PLACEHOLDERS.search(value.lower()) is not None


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for one that somebody has to fill in, or is a mask."""
    return len(set(value)) < min(_FEWEST_CHARACTERS, len(value)) or has_placeholder(value)


def is_code(value: str) -> bool:
    """Return whether a value is a variable, a call, a path or an address rather than a literal."""
    return bool(_REFERENCE.match(value) or _is_dotted(value) or _VERSION.fullmatch(value) or _is_path(value))


def _is_dotted(value: str) -> bool:
    """Return whether a value is a name in a module or an object, and no token of parts."""
    if _DOTTED.fullmatch(value) is None:
        return False
    return not any(len(part) >= 20 and _is_mixed(part) for part in value.replace(":", ".").split("."))


def _is_path(value: str) -> bool:
    """Return whether a value is a path or an address, and not base64 that begins with a slash."""
    match = _PATH.match(value)
    return match is not None and (
        match[0] != "/" or not any(len(part) >= 16 and _is_mixed(part) for part in value.split("/"))
    )


def is_uuid(value: str) -> bool:
    """Return whether a value is a UUID."""
    return _UUID.fullmatch(value) is not None


def is_random(value: str, least: int = 16) -> bool:
    """Return whether a value has the characters of a generated token, of at least some length."""
    return (
        len(value) >= least
        and " " not in value
        and not is_code(value)
        and sum(map(str.isalpha, value)) > 1
        and not is_placeholder(value)
        and entropy(value) >= _TOKEN_ENTROPY
        and not _HASH_NAME.match(value)
        and not _DATE.match(value)
        and _is_mixed(value)
    )


def is_password(value: str) -> bool:
    """Return whether a value may be a password that a person chose: neither a word nor part of the code."""
    if value.lower() in _TERMS:
        return False
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    if entropy(value) < _PASSWORD_ENTROPY or is_placeholder(value) or is_code(value):
        return False
    if digits == len(value):
        return digits >= 6
    if digits and letters:
        return not _is_name(value) or len(_PART.findall(value)) == 1
    if letters == len(value):
        return len(value) >= 10 and (_is_mixed(value) or _is_gibberish(value))
    if not letters and not digits:
        return False
    symbols = set(value) - set(" ._-/:") - {char for char in value if char.isalnum()}
    return bool(symbols) and " " not in value and "," not in value


def _is_name(value: str) -> bool:
    """Return whether each part of a value is a word, perhaps with a number after it, or a number."""
    return all(_WORD_OR_NUMBER.fullmatch(part) for part in _PART.findall(value))


def _is_mixed(value: str) -> bool:
    """Return whether digits and cases change too often for words."""
    if is_uuid(value):
        return True
    parts = _PART.findall(value)
    size = sum(map(len, parts))
    if any(char.isdigit() for char in value):
        changes = 0
        for part in parts:
            runs = len(_CHANGES.findall(part))
            changes += 2 * runs - part[0].isdigit() - part[-1].isdigit() if not part.isdigit() else 0
        if changes >= 4:
            return True
        if not size or value.isdigit() or _is_name(value):
            return False
        if changes >= 3 and size <= 24:
            return True
        if size >= 20 and len(_UPPER.findall(value)) >= 2 and len(_RISES.findall(value)) >= 3:
            return True
    words = sum(map(len, _WORDS.findall(value)))
    return size >= 12 and (words <= size * 0.6 or (size >= 16 and len(parts) <= 2 and _is_gibberish(value)))


def _is_gibberish(value: str) -> bool:
    """Return whether nobody can pronounce the letters of a value."""
    signs = len(_CLUSTER.findall(value)) + len(_RARE.findall(value))
    return signs >= 1 + len(value) // 20


def run_of(text: str, start: int) -> int:
    """Return the number of characters of tokens that follow in a text, at most 4,096."""
    rest = text[start : start + _LONGEST]
    return len(rest) - len(rest.lstrip(_OF_TOKENS))
