"""Finds values by the label before them, such as `DB_PASSWORD=` or `"apiKey": `."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.redaction.found import Found
from agentwatch.redaction.secrets.values import is_password, is_random

_REST = r"[A-Za-z0-9_-]{0,40}"
_CLOSE = r"[\\\"'`\])* \t]{0,12}"
_WRAP = r"(?:[A-Za-z_.:@$&]{0,40}\(?[ ]{0,2})"
_QUOTED = rf"(?:{_WRAP}\"([^\"\n]{{3,600}})|{_WRAP}'([^'\n]{{3,600}})|{_WRAP}`([^`\n]{{3,600}}))"
_BARE = r"([^\s\"'`,;<>]{3,600})"
_ASSIGNED = re.compile(
    rf"{_REST}{_CLOSE}(?:[:?.+|~*]{{0,2}}=[=>]?|:{{1,2}}|->|\|\|)[ \t*]{{0,16}}(?:{_QUOTED}|{_BARE})"
)
_TYPED = re.compile(
    rf"{_REST}[ \t]{{0,4}}:?[ \t]{{1,4}}[A-Za-z&*?\[][A-Za-z0-9_&<>\[\].| ?*]{{0,40}}=[ \t]{{0,4}}{_QUOTED}"
)
_PASSED = re.compile(rf"{_REST}(?:[\"'`\])]{{0,3}}[ \t]{{0,4}},\s{{0,40}}|\([ \t]{{0,4}}|[ \t]{{1,8}}){_QUOTED}")
_ELEMENT = re.compile(rf"{_REST}(?:[ \t][^<>\n]{{0,60}})?>\s{{0,40}}(?:<!\[CDATA\[)?([^<>\s\[\]]{{3,600}})(?:\]\]>)?\s{{0,40}}</")
_VALUE = re.compile(
    rf"{_REST}[\"']?(?:,?\s{{1,60}}[\"']?(?:value|Value|content|VALUE)[\"']?[ ]{{0,2}}[:=][ ]{{0,4}}|</key>\s{{0,60}}<string>)(?:{_QUOTED}|{_BARE})"
)
_BESIDE = re.compile(rf"{_REST}(?:[ \t*`]{{0,4}}\|[ \t*`]{{0,4}}|[ \t]{{1,16}})(?:is[ \t:=]{{1,3}})?{_BARE}")
_LOOSE = (_PASSED, _ELEMENT, _VALUE)

_IDENTIFIER = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_SEPARATORS = str.maketrans("", "", "_-")
_LONGEST = 40
_STEMS = ("pass", "pwd", "secret", "token", "key", "cred", "auth", "psk", "salt")
_NOT_AFTER = (
    "id", "len", "length", "name", "type", "path", "file", "url", "uri", "size", "count", "index", "hash", "sha",
    "digest", "checksum", "fingerprint", "thumbprint", "version", "date", "arn", "field", "pattern", "regex",
    "word0", "policy", "prefix", "suffix", "expir", "error", "usage", "limit", "board", "frame", "code", "map",
)  # fmt: skip
"""What a label goes on with that is no secret, such as `key_id`."""
_NOT_BEFORE = (
    "public", "cache", "primary", "foreign", "sort", "partition", "page", "next", "continuation", "pad", "eos", "bos",
    "idempotency", "etag", "object", "row", "group", "routing", "unique", "map", "dict", "query", "i18n", "hot",
    "press", "mon", "tur", "don", "publishable", "nextpage", "dedup", "lookup", "hash", "registry", "react", "sync",
)  # fmt: skip
"""What a label begins with that is no secret, such as `cache_key`."""
_KEYS = (
    "api", "access", "secret", "private", "auth", "account", "encryption", "encrypt", "signing", "sign", "master",
    "shared", "service", "license", "app", "application", "client", "admin", "storage", "subscription", "write",
    "integration", "read", "ingest", "ingestion", "deploy", "webhook", "rest", "server", "consumer", "project",
    "jwt", "session", "cookie", "hmac", "aes", "user", "developer", "live", "prod", "sdk", "personal", "bot",
    "vapid", "primaryaccess", "security", "root", "data", "token", "installation", "management", "host", "sas",
    "function", "system", "transaction", "wallet", "passphrase", "crypt", "cipher", "security", "insert", "dev",
    "test", "staging", "production", "apim", "email", "mail", "sms", "search", "vault", "unseal", "recovery",
)  # fmt: skip
"""What stands before `key` in the label of a secret."""


class Label(NamedTuple):
    """The label of a value."""

    category: str
    """`password`, `secret`, `token`, `key` or `credential`."""
    after: int
    """The index after the stem of the label."""
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
    for stem in _STEMS:
        at = lower.find(stem)
        while at >= 0:
            after = at + len(stem)
            label = _label(piece, lower, stem, at)
            if label is not None:
                found = _value(piece, label)
                if found is not None:
                    yield found
                    after = max(after, found.start)
            at = lower.find(stem, after)


def _label(piece: str, lower: str, stem: str, at: int) -> Label | None:
    """Return the label that has a stem at a place; None if it labels no secret."""
    before = piece[max(0, at - _LONGEST) : at]
    identifier = before[len(before.rstrip(_IDENTIFIER)) :]
    first = at - len(identifier)
    end = at + len(stem)
    after = lower[end : end + 12].translate(_SEPARATORS)
    head = identifier.lower().translate(_SEPARATORS)
    sign = piece[first - 1 : first] if first else ""
    begins = not identifier or not identifier[-1].isalpha() or (identifier[-1].islower() and piece[at].isupper())
    category = _category(stem, head, after, begins=begins, is_query=sign in {"?", "&"} and bool(sign))
    if category is None:
        return None
    return Label(category, end, identifier.startswith("-"), sign in {"?", "&"} and bool(sign))


def _category(stem: str, head: str, after: str, *, begins: bool, is_query: bool) -> str | None:
    """Return what a label with a stem labels; None if that is no secret."""
    if stem == "secret":
        return None if after.startswith(_NOT_AFTER) and not after.startswith("id") else "secret"
    if after.startswith(_NOT_AFTER) or head.endswith(_NOT_BEFORE):
        return None
    if stem == "pass":
        whole = begins and not after[:1].isalpha()
        return "password" if after.startswith(("w", "phrase", "code")) or whole or head.endswith("store") else None
    if stem in {"pwd", "psk"}:
        return "password"
    if stem == "token":
        return "token" if not after.startswith(("iz", "typ")) else None
    if stem == "cred":
        return "credential" if begins and (after.startswith(("s", "ential")) or not after[:1].isalpha()) else None
    if stem == "auth":
        return "credential" if begins and not after[:1].isalpha() and not head.strip("o") else None
    if stem == "salt":
        return "token" if begins and not after[:1].isalpha() else None
    if head.endswith(_KEYS) or is_query:
        return "key"
    return "bare key" if begins and not head else None


def _value(piece: str, label: Label) -> Found | None:
    """Return the secret that follows a label."""
    match = _ASSIGNED.match(piece, label.after)
    if match is not None:
        found = _judged(match, label, loose=False)
        if found is not None:
            return found
    match = _TYPED.match(piece, label.after)
    if match is not None:
        found = _judged(match, label, loose=False)
        if found is not None:
            return found
    for pattern in _LOOSE:
        match = pattern.match(piece, label.after)
        if match is not None:
            return _judged(match, label, loose=True)
    match = _BESIDE.match(piece, label.after)
    return None if match is None else _judged(match, label, loose=not label.is_option, beside=True)


def _judged(match: re.Match[str], label: Label, *, loose: bool, beside: bool = False) -> Found | None:
    """Return the value of a match if it is a secret."""
    group = match.lastindex or 1
    value, start = match[group], match.start(group)
    quoted = match.re is not _ELEMENT and group < (match.re.groups if match.re.groups > 3 else 4)
    if not quoted:
        value = _cut(value, label)
    elif " " in value.strip():
        value = value.split(" ", 1)[0] if value.startswith(("Bearer ", "Basic ")) else value
    start += len(value) - len(value.lstrip())
    value = value.strip()
    if not _is_secret(value, label.category, loose=loose, beside=beside, quoted=quoted):
        return None
    return Found(start, start + len(value), label.category.rpartition(" ")[2])


def _cut(value: str, label: Label) -> str:
    """Return a value that is not quoted without what follows it."""
    if "(" in value or value.startswith(("[", "{")):
        return ""
    if label.is_query:
        value = value.partition("&")[0].partition("#")[0]
    for opening, closing in ("()", "[]", "{}"):
        if closing in value and opening not in value:
            value = value.partition(closing)[0]
    return value.rstrip("\\.:*|")


def _is_secret(value: str, category: str, *, loose: bool, beside: bool, quoted: bool) -> bool:
    """Return whether a value after a label of a category is a secret."""
    if category == "bare key":
        return not beside and is_random(value, 32)
    if category == "password":
        if not is_password(value) or (not quoted and _names_a_secret(value)):
            return False
        return not loose or len(value) >= 6 and any(map(str.isdigit, value)) and (not beside or _is_strong(value))
    if is_random(value, 16 if loose else 12):
        return True
    return category in {"secret", "credential"} and not loose and len(value) >= 8 and any(
        map(str.isdigit, value)
    ) and is_password(value) and not _names_a_secret(value)


def _names_a_secret(value: str) -> bool:
    """Return whether a value has the words of a label, as a variable has."""
    lower = value.lower()
    return value.isidentifier() and any(stem in lower for stem in ("pass", "pwd", "secret", "token"))


def _is_strong(value: str) -> bool:
    """Return whether a value beside a label is a password rather than the next word."""
    symbols = any(not char.isalnum() and char not in "._-/:=" for char in value)
    cases = any(map(str.isupper, value)) and any(map(str.islower, value))
    return len(value) >= 7 and (symbols or cases)
