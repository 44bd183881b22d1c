"""Foreign text made safe for a terminal, once, and visibly.

Whatever an agent, a file that it read or a command that it ran can print may be aimed at the
reader's terminal. Here it becomes text that cannot act. What is dangerous is shown as a picture of
itself, not deleted:

- C0 controls and DEL become their Unicode pictures (ESC is `␛`), C1 controls `<9B>`;
- direction marks, zero-width characters, tags, unassigned and private code points: `<U+202E>`;
- half a surrogate pair becomes U+FFFD;
- CR LF is a line end, a lone CR is `␍`, a tab is four spaces;
- of more than eight combining marks on one character the rest becomes `…`;
- variation selectors, skin tones and the joiner between emoji are left out, a flag is its two
  letters: rich and tmux disagree about the width of what they make on 10 of 39 such sequences, and
  a wrong width shifts a border.

`SafeText` is the type of text that went through here. Only such text may meet a widget, a log or
a terminal.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NewType

SafeText = NewType("SafeText", str)

_EMOJI = "\u203c-\u3299\U0001f000-\U0001faff"
_SHOWN_BY_NUMBER = frozenset(
    (
        *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0",  # printable, and not seen
        *"\u0488\u0489\ua670\ua671\ua672\U00016fe4\U0001d165",  # passed over by comparisons that collate
        *map(chr, range(0x2630, 0x2638)),  # from here on: two columns since Unicode 16, one before
        *map(chr, range(0x268A, 0x2690)),
        *map(chr, range(0x4DC0, 0x4E00)),
        *map(chr, range(0x1D300, 0x1D377)),
    )
)


def _replacement(code: int) -> str | int:
    """Return what stands for one character: itself, another string, or the empty string."""
    char = chr(code)
    if code < 0x20:
        return {"\n": "\n", "\t": "    "}.get(char, chr(0x2400 + code))
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code < 0xA0:
        return f"<{code:02X}>"
    if 0xD800 <= code < 0xE000:
        return "\ufffd"
    if 0xFE00 <= code < 0xFE10 or 0xE0100 <= code < 0xE01F0 or 0x1F3FB <= code <= 0x1F3FF:
        return ""
    if 0x1F1E6 <= code <= 0x1F1FF:
        return chr(code - 0x1F1E6 + ord("A"))
    if char in _SHOWN_BY_NUMBER:
        return f"<U+{code:04X}>"
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return code
    return f"<U+{code:04X}>"


class _Replacements(dict[int, str | int]):
    """The replacement of each character met so far: `str.translate` fills it as it goes."""

    def __init__(self) -> None:
        super().__init__()
        self._marks = ""
        self.too_many_marks: re.Pattern[str] | None = None
        """Nine combining marks or more, of those met so far: the first eight are its group."""

    def __missing__(self, code: int) -> str | int:
        self[code] = replacement = _replacement(code)
        if replacement == code and unicodedata.category(chr(code)) in ("Mn", "Me"):
            self._marks += chr(code)
            self.too_many_marks = re.compile(f"([{self._marks}]{{8}})[{self._marks}]+")
        return replacement


_REPLACEMENTS = _Replacements()


def safe_text(text: str) -> SafeText:
    """Return text of one or more lines that cannot drive a terminal; only `\n` ends a line."""
    if text.isascii() and text.isprintable():
        return SafeText(text)
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    if "\u200d" in text:
        text = _emoji_joiner().sub("", text)
    text = text.translate(_REPLACEMENTS)
    if _REPLACEMENTS.too_many_marks is not None and not text.isascii():
        text = _REPLACEMENTS.too_many_marks.sub(r"\1…", text)
    return SafeText(text)


def safe_line(text: str) -> SafeText:
    """Return text safe and of exactly one line: a line end shows as `␊`."""
    return SafeText(safe_text(text).replace("\n", "␊"))


def columns(text: SafeText) -> int:
    """Return how many terminal columns a line of safe text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_char_columns, text))


def fitting(text: SafeText, start: int, width: int) -> int:
    """Return where the piece of a line that begins at `start` and takes at most `width` columns ends.

    It holds one character at least.
    """
    if text.isascii():
        return min(start + max(width, 1), len(text))
    end = start
    while end < len(text) and (width := width - _char_columns(text[end])) >= 0:
        end += 1
    return max(end, min(start + 1, len(text)))


def wrapped(text: SafeText, width: int) -> list[SafeText]:
    """Return a line of safe text as lines of at most `width` columns, broken at blanks if there are any."""
    lines, start = [], 0
    while True:
        end = fitting(text, start, width)
        if end < len(text) and text[end] != " ":
            blank = text.rfind(" ", start, end)
            end = blank if blank > start else end
        lines.append(SafeText(text[start:end].rstrip(" ")))
        while end < len(text) and text[end] == " ":
            end += 1
        if end >= len(text):
            return lines
        start = end


def cut(text: SafeText, limit: int) -> SafeText:
    """Return a line of safe text that takes at most `limit` columns; `…` stands for what is cut off."""
    if columns(text) <= limit:
        return text
    kept = fitting(text, 0, limit - 1) if limit > 1 else 0
    return SafeText(text[:kept] + "…")


@cache
def _emoji_joiner() -> re.Pattern[str]:
    """Return what finds the joiner between emoji; to compile it takes longer than the rest of this module."""
    return re.compile(f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])")


@lru_cache(1 << 14)
def _char_columns(char: str) -> int:
    """Return the columns of a character: marks, and the later parts of a Hangul syllable, have none."""
    if unicodedata.category(char) in ("Mn", "Me", "Mc") or "\u1160" <= char <= "\u11ff":
        return 0
    if "\ud7b0" <= char <= "\ud7ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
