"""Judges whether a value is a secret, or a word, a placeholder, a variable or a path."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

from agentwatch.output.redact.decoding import plain_value

_PLACEHOLDERS = re.compile(
    r"(?:^|[^a-z0-9])(?:your|my[_-]|example|replace|insert|dummy|sample|todo(?:[^a-z0-9]|$)|some[_-])|[_-]here|example$"
    r"|abcdefghijkl|\*\*\*|\.\.\.|change.?me|placeholder|redacted|secret:|not.?set|^&lt;|&gt;$|^<|>$|\$\{|\{\{|\$\(|#\{|%\("
)
_EXAMPLE = re.compile(r"(?i)(?:example|sample|dummy|some|my|your)[_-]")
_REFERENCE = re.compile(
    r"\$\{[A-Za-z_(]|%[A-Za-z_]{2,40}%(?:$|[\\/])|!(?:Ref|Sub|GetAtt|Join|vault|ENV|secret)\b"
    r"|\$[({]|(?:process|import|os|env|secrets?|vars?|config|settings|self|this|data|local|args?"
    r"|options|opts|params|props|request|req|ctx|module|output|input|context|inputs|steps|github|values?)"
    r"\.[A-Za-z_]"
)
_VARIABLE = re.compile(r"[$&*@][A-Za-z_][A-Za-z0-9_.:-]{0,60}[})]?$")
_EXPRESSION = re.compile(r"\{[A-Za-z_ %]|\[[A-Za-z_]|[A-Za-z_][A-Za-z0-9_.:>-]{0,60}[(\[<]|\([A-Za-z_(]")
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}(?:\??[.:]{1,2}[A-Za-z_][A-Za-z0-9_]{0,60}){1,8}")
_PATH = re.compile(r"(?:\.{0,2}/|~/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]{1,20}:/)")
_VERSION = re.compile(r"[v^~=<>]{0,3}[0-9]{1,5}\.[0-9]{1,5}[0-9A-Za-z.+_-]{0,60}")
_DATE = re.compile(r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,40}|[A-Z]{3,40}")
_PART = re.compile(r"[A-Za-z0-9]{1,600}")
_WORD_OR_NUMBER = re.compile(r"[A-Z]?[a-z]{1,40}[0-9]{0,12}|[A-Z]{1,40}[0-9]{0,12}|[0-9]{1,20}")
_IDENTIFIER = re.compile("[A-Za-z]{1,60}[0-9]{0,12}|[0-9]{1,20}")
_CLUSTER = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{5,20}")
_RARE = re.compile(
    r"(?i)q[a-tv-z]|[vjxz][bcdfgjkmpqtvwxz]|[bcdfghkmnpqwz]x[bdgjkmnqrsvwz]|[bcfgkpqvwz]j|[fghjmqvwx]z"
)
_NAMES_OF_CODES = """
ascii base64 base64url binary hex latin-1 latin1 md5 sha1 sha256 sha512 utf-16 utf-8 utf16 utf8
"""
_TERMS = frozenset(_NAMES_OF_CODES.split())
_COMMON_WORDS = """
absent accepted account actual address allowed already always answer anonymous another argument array
asdfgh async attempt available await before blank boolean bottom buffer button bytearray bytes callback
cancel center change changed changes character characters charfield checkbox choose cleartext clipboard
close column command confirm confirmation connect connection console constant contains content continue
correct create created current custom database default defaults delete denied deprecated descending
description desktop dialog digest disable disabled display document dropdown dynamic editable element
email empty enable enabled encode encoded encrypt encrypted encryption english entered entry environ
environment error escape exactly exception exists expired export expression external failed failure false
field filled first flexible follow following forbidden forget forgot forgotten format function generate
generated getpass global group hashed header helper hidden hunter ignore ignored immediate immutable
implement import imported incorrect infinity inherit initial inline input insert instance integer internal
interactive invalid label language latest length letter letters library limited literal local locale
localhost location locked logged login logout machine manual match member message method minimum missing
mixed mobile module mutable myself native needed never newest normal notempty nothing notnull nullable
number object obscured offline omitted online option optional options output parameter partial pattern
permission personal plain plaintext please policy postgres preferred present preserve previous primary
printable private production program prompt property protected provide provided provider public random
readline readonly receive received recover recovery redacted reference register reject rejected remember
remote remove removed rename repeat replace request require required requires reserved reset resolve
response restore restricted result retype return returned safely sample schema search section select
selected sensitive server service session setting settings shared should show simple single something
specified standard static status stdin stored strength string strings strong struct submit success
supplied support supported switch symbol system template temporary testing textarea textbox textfield
textinput through title toggle transient translate trigger trimmed tuple types undefined unencrypted
unicode unique unknown unless unlock unlocked unmasked unset unspecified unsupported update updated
upgrade uppercase username utf validate validation value values variable varchar verified verify version
virtual visible volatile warning weak widget without working wrapped wrong
contrasena contrasenia kennwort passphrase wachtwoord salasana adgangskode
"""
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words after the label of a password in code, forms and messages that are not passwords."""
_NAMES = ("pass", "pwd", "secret", "token", "auth", "key", "cred", "user")
_OF_SENTENCES = """
a all an and any are at be been between by can cannot changed characters choose confirm contain did do
does enter expired failed for forgot from has have if in incorrect invalid is it its least longer match
may must new no not of on or please provide repeat required reset same set should that the their this to
too type use used was when will with without wrong you your
"""
_FUNCTION_WORDS = frozenset(_OF_SENTENCES.split())
_OF_FOUR_LETTERS = """
also back been both code data does each even file find form from give good have here hint home host into
just keep last left like line list long look made main make many mode more most much must name need next
none null only open over page pass path port read role root same sent show some such take test text than
that them then they this time true type upon used user uses very want were what when will with word work
your
"""
_FOUR_LETTERS = frozenset(_OF_FOUR_LETTERS.split())
_SHORTEST_WORD = 6
_CODE_WORD = re.compile(r"[a-z]{1,30}[A-Z]|[A-Z][a-z]{1,30}[A-Z]")
_UPPER = re.compile(r"[A-Z]{2}")
_RISES = re.compile(r"[a-z][A-Z]")
_CHANGES = re.compile(r"[0-9]{1,600}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HASH_NAME = re.compile(r"(?i)(?:sha[0-9]{1,3}|md5|h1)[-:=]")
_FEWEST_CHARACTERS = 5
_OF_TOKENS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.-"
_LONGEST = 4096
_PASSWORD_ENTROPY, _TOKEN_ENTROPY = 2.25, 2.8


def _entropy(value: str) -> float:
    """Return the bits for each character of a value, as its own characters are distributed."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values()) if size else 0.0


def has_placeholder(value: str) -> bool:
    """Return whether a value has the words of one that somebody has to fill in, or is a mask."""
    return "xxxx" in value or "XXXX" in value or _PLACEHOLDERS.search(value.lower()) is not None


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for one that somebody has to fill in, or is a mask."""
    if "%" in value and ((plain := plain_value(value)).startswith("<") or not plain.endswith(">")):
        value = plain
    if len(set(value)) < min(_FEWEST_CHARACTERS, len(value)):
        return True
    return has_placeholder(value) and not _has_generated_rest(value)


def _has_generated_rest(value: str) -> bool:
    """Return whether a value begins with the word of a placeholder, and the rest of it is generated."""
    match = _EXAMPLE.match(value)
    rest = value[match.end() :] if match is not None else ""
    return len(rest) >= 8 and not has_placeholder(rest) and (is_random(rest, 8) or _is_irregular(rest))


def _is_irregular(value: str) -> bool:
    """Return whether a value is one part of digits and letters in both cases, and no word with a number."""
    return value.isalnum() and not is_name(value) and value not in {value.lower(), value.upper()}


def is_code(value: str) -> bool:
    """Return whether a value is a variable, a call, a path or an address rather than a literal."""
    return (
        _REFERENCE.match(value) is not None
        or (_VARIABLE.match(value) is not None and is_name(value))
        or is_expression(value)
        or _is_dotted(value)
        or _VERSION.fullmatch(value) is not None
        or _is_path(value)
    )


def is_expression(value: str) -> bool:
    """Return whether a value is a call, a list or a type: names in brackets, or brackets that are closed."""
    if not _EXPRESSION.match(value):
        return False
    if value[0].isalpha() and value[-1] in ")]}>([{;":
        return True
    return all(_IDENTIFIER.fullmatch(part) for part in _PART.findall(value))


def _is_dotted(value: str) -> bool:
    """Return whether a value is a name in a module or an object, and no token of parts."""
    if _DOTTED.fullmatch(value) is None:
        return False
    return not any(len(part) >= 12 and _is_mixed(part) for part in value.replace(":", ".").split("."))


def _is_path(value: str) -> bool:
    """Return whether a value is a path or an address, and not base64 that begins with a slash."""
    match = _PATH.match(value)
    return match is not None and (
        match[0] != "/" or not any(len(part) >= 16 and _is_mixed(part) for part in value.split("/"))
    )


def is_random(value: str, least: int = 16) -> bool:
    """Return whether a value has the characters of a generated token, of at least some length."""
    return (
        len(value) >= least
        and " " not in value
        and not is_code(value)
        and sum(map(str.isalpha, value)) > 1
        and not is_placeholder(value)
        and _entropy(value) >= _TOKEN_ENTROPY
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
    if _entropy(value) < _PASSWORD_ENTROPY or is_placeholder(value):
        return False
    if is_code(value) and (value[0] != "/" or is_name(value)):
        return False
    if digits == len(value):
        return digits >= 6
    symbols = set(value) - set(" ._-/:") - {char for char in value if char.isalnum()}
    if digits and letters:
        is_signed = bool(symbols) and " " not in value
        return is_signed or not is_name(value) or len(_PART.findall(value)) == 1
    if letters == len(value):
        return len(value) >= 10 and (_is_mixed(value) or _is_gibberish(value))
    if not letters and not digits:
        return False
    return bool(symbols) and " " not in value and "," not in value


def is_chosen_word(value: str, *, plain: bool) -> bool:
    """Return whether a value of letters alone may be a password that a person chose, after the label of one.
    `plain` says whether the syntax leaves it open that the value is a name in code."""
    if len(value) < _SHORTEST_WORD or _entropy(value) < _PASSWORD_ENTROPY or is_placeholder(value):
        return False
    if plain and _CODE_WORD.match(value):
        return False
    lower = value.lower()
    return lower not in _COMMON and not any(name in lower for name in _NAMES)


def is_phrase(value: str) -> bool:
    """Return whether a value is four words or more that make no sentence, or equal groups of letters."""
    words = value.lower().split(" ")
    if not 4 <= len(words) <= 12 or not all(word.isalnum() and len(word) >= 3 for word in words):
        return False
    return not any(word in _FUNCTION_WORDS or word.startswith(_NAMES) for word in words)


def is_spaced(value: str) -> bool:
    """Return whether a value is groups of four letters and digits, as some vendors write an app password."""
    groups = value.replace("-", " ").split(" ")
    return len(groups) in {4, 6} and not any(group.lower() in _FOUR_LETTERS for group in groups)


def is_name(value: str) -> bool:
    """Return whether each part of a value is a word, perhaps with a number after it, or a number."""
    return all(_WORD_OR_NUMBER.fullmatch(part) for part in _PART.findall(value))


def _is_mixed(value: str) -> bool:
    """Return whether digits and cases change too often for words."""
    if _UUID.fullmatch(value):
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
        if not size or value.isdigit() or is_name(value):
            return False
        if changes >= 3 and size <= 24:
            return True
        if size >= 20 and len(_UPPER.findall(value)) >= 2 and len(_RISES.findall(value)) >= 3:
            return True
    words = sum(map(len, _WORDS.findall(value)))
    return size >= 12 and (words <= size * 0.6 or (size >= 16 and len(parts) <= 2 and _is_gibberish(value)))


def _is_gibberish(value: str) -> bool:
    signs = len(_CLUSTER.findall(value)) + len(_RARE.findall(value))
    return signs >= 1 + len(value) // 20


def run_of(text: str, start: int) -> int:
    """Return the number of characters of tokens that follow in a text, at most 4,096."""
    rest = text[start : start + _LONGEST]
    return len(rest) - len(rest.lstrip(_OF_TOKENS))
