"""A search query, and a fast check whether the raw bytes of a line may contain it."""

from __future__ import annotations

import re

from agentwatch.session import Kind

_MARKS = r"[*_`~\[\]\\]*"
"""Markdown characters that may occur between two characters of a text and are not shown."""
_ESCAPED_WORD = re.compile(rb"\\u00[3-7]")
"""A JSON escape of a letter, a digit or `_`."""
_CODE_POINT = re.compile("[uU0-9a-fA-F]+")
"""Text that may be part of a replacement by `safe_text`: `<U+202E>`, `<9B>`."""


class Query:
    """A search query.

    It is case-sensitive if it contains an upper-case letter. All white space between words is equivalent.
    """

    def __init__(self, text: str) -> None:
        self.words = text.split()
        self._is_exact = any(char.isupper() for char in text)
        self.pattern = self._compiled([_in_order(word, "") for word in self.words], r"\s+")
        """Matches in plain text."""
        marked = [_in_order(word, _MARKS) for word in self.words]
        self.markdown_pattern = self._compiled(marked, rf"{_MARKS}\s[\s>*_`~\[\]\\]*")
        """Matches in Markdown, whose marks are not shown."""
        self.reach = 4 * len(text) + 64
        """No match is longer than this. It is the number of characters searched beyond the end of a chunk."""
        pieces = re.findall(r"[0-9A-Za-z_]+", text)
        self.needles = frozenset((piece if self._is_exact else piece.lower()).encode() for piece in pieces)
        """The ASCII words of the query. A matching line contains them literally, unless it escapes them."""
        self._may_be_code_point = any(map(_CODE_POINT.fullmatch, pieces))

    def pattern_in(self, kind: Kind) -> re.Pattern[str]:
        """Return the pattern for the text of an entry of this kind."""
        return self.markdown_pattern if kind is Kind.ANSWER else self.pattern

    def shown_pattern(self) -> re.Pattern[str]:
        """Return a pattern for wrapped lines, which may be broken within a long word."""
        wrap = r"(?:[^\S\n]*\n[\s▌]*)?"
        return self._compiled([wrap.join(map(re.escape, word)) for word in self.words], r"[\s▌]+")

    def missing(self, needles: frozenset[bytes], data: bytes) -> frozenset[bytes]:
        """Return the needles that a piece of a line does not contain.

        The result is empty if the missing ones may be written as escapes, so that the line must be decoded.
        """
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
    """Return a pattern for a word that allows `marks` beside all characters but ASCII letters and digits.

    ASCII characters match only themselves. Otherwise `k` would match the Kelvin sign, which the search
    through the raw bytes does not find.
    """
    pieces = re.findall(r"[0-9A-Za-z]+|[^0-9A-Za-z]", word)
    return marks.join(f"(?a:{re.escape(piece)})" if piece.isascii() else re.escape(piece) for piece in pieces)
