"""What is looked for in a session, and whether the bytes of a line may hold it."""

from __future__ import annotations

import re

from agentwatch.session import Kind

_MARKS = r"[*_`~\[\]\\]*"
"""Markdown that may stand between two characters of a text and is not shown."""
_ESCAPED_WORD = re.compile(rb"\\u00[3-7]")
"""A letter, a digit or `_` may be written so."""
_CODE_POINT = re.compile("[uU0-9a-fA-F]+")
"""Text that safe text may have put in the place of a character: `<U+202E>`, `<9B>`."""


class Query:
    """What is looked for: case counts if it has an upper-case letter, how words are parted never does."""

    def __init__(self, text: str) -> None:
        self.words = text.split()
        self._is_exact = any(char.isupper() for char in text)
        self.pattern = self._compiled([_in_order(word, "") for word in self.words], r"\s+")
        """Finds it in plain text."""
        marked = [_in_order(word, _MARKS) for word in self.words]
        self.markdown_pattern = self._compiled(marked, rf"{_MARKS}\s[\s>*_`~\[\]\\]*")
        """Finds it in Markdown, whose marks are not shown."""
        self.reach = 4 * len(text) + 64
        """No match is longer: so much of a text is looked at beyond a cut."""
        pieces = re.findall(r"[0-9A-Za-z_]+", text)
        self.needles = frozenset((piece if self._is_exact else piece.lower()).encode() for piece in pieces)
        """The words of plain letters, which stand as they are in the bytes of a line that holds it."""
        self._may_be_code_point = any(map(_CODE_POINT.fullmatch, pieces))

    def pattern_in(self, kind: Kind) -> re.Pattern[str]:
        """Return what finds it in the text of an entry."""
        return self.markdown_pattern if kind is Kind.ANSWER else self.pattern

    def shown_pattern(self) -> re.Pattern[str]:
        """Return what finds it in lines that were wrapped, in the middle of a word where it is long."""
        wrap = r"(?:[^\S\n]*\n[\s▌]*)?"
        return self._compiled([wrap.join(map(re.escape, word)) for word in self.words], r"[\s▌]+")

    def missing(self, needles: frozenset[bytes], data: bytes) -> frozenset[bytes]:
        """Return which needles a piece of a line does not hold; none where they may stand in an escape."""
        searched = data if self._is_exact else data.lower()
        missing = frozenset(needle for needle in needles if needle not in searched)
        if missing and b"\\u" in data and _ESCAPED_WORD.search(data) is not None:
            return frozenset()
        if missing and self._may_be_code_point and (b"\\u" in data or not data.isascii()):
            return frozenset()
        return missing

    def _compiled(self, words: list[str], gap: str) -> re.Pattern[str]:
        return re.compile(gap.join(words), 0 if self._is_exact else re.IGNORECASE)


def _in_order(word: str, marks: str) -> str:
    """Return a pattern of a word, `marks` allowed beside what is no letter; letters of ASCII match as such.

    Otherwise `k` would find the Kelvin sign, which looking at the bytes does not.
    """
    pieces = re.findall(r"[0-9A-Za-z]+|[^0-9A-Za-z]", word)
    return marks.join(f"(?a:{re.escape(piece)})" if piece.isascii() else re.escape(piece) for piece in pieces)
