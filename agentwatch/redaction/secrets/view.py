"""A text of the same length in which the begin of every word can be seen: without colours and escapes."""

from __future__ import annotations

import re

from agentwatch.redaction.decoding import colours

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
