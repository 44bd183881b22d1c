"""A text of the same length in which the begin of every word can be seen: without colours and escapes."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,24}[A-Za-z]")
_UNICODE_ESCAPE = re.compile(r"\\u00([0-7][0-9a-fA-F])")
_PERCENT_ESCAPE = re.compile(r"%([2-7][0-9A-Fa-f])")
_ESCAPES = (("\\n", "\n\n"), ("\\r", "\n\n"), ("\\t", "\t\t"), ('\\"', ' "'), ("\\'", " '"), ("\\/", " /"))


def plain(text: str) -> str:
    r"""Return a text with one ASCII character for each character of the given one.

    A colour becomes spaces. An escape such as `\n`, which texts of JSON in JSON have, becomes what it stands
    for, with spaces before it. Characters outside ASCII become `?`.
    """
    if not text.isascii():
        text = text.encode("ascii", "replace").decode("ascii")
    if "\x1b" in text:
        text = _COLOUR.sub(_blank, text)
    if "\\" in text:
        for escape, meaning in _ESCAPES:
            text = text.replace(escape, meaning)
        if "\\u00" in text:
            text = _UNICODE_ESCAPE.sub(_meaning, text)
    if "%" in text:
        text = _PERCENT_ESCAPE.sub(_punctuation, text)
    return text


def _blank(match: re.Match[str]) -> str:
    """Return spaces in place of a match."""
    return " " * len(match[0])


def _meaning(match: re.Match[str]) -> str:
    """Return the character of a hexadecimal escape, with spaces before it."""
    return chr(int(match[1], 16)).rjust(len(match[0]))


def _punctuation(match: re.Match[str]) -> str:
    """Return an escape of an address: its character after spaces if that ends a word, else as it is."""
    return _meaning(match) if match[1].upper() in {"20", "22", "26", "27", "2F", "3A", "3D"} else match[0]
