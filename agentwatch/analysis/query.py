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
    """A search query: plain words, in order, separated by any white space.

    The search is case-sensitive if the query contains an upper-case letter. There is no pattern syntax: `.`
    and `*` match only themselves. In the assistant's text, Markdown marks that are not shown are ignored.

    Example:
        >>> bool(Query("exit 1").pattern.search("failed: Exit\\n1"))
        True
        >>> bool(Query("Exit").pattern.search("exit"))
        False
        >>> bool(Query("run tests").markdown_pattern.search("**run** `tests`"))
        True
    """

    def __init__(self, text: str) -> None:
        self.words = text.split()
        self._is_exact = any(char.isupper() for char in text)
        self.pattern = self._compiled([_in_order(word, "") for word in self.words], r"\s+")
        """Finds the query in plain text."""
        marked = [_in_order(word, _MARKS) for word in self.words]
        self.markdown_pattern = self._compiled(marked, rf"{_MARKS}\s[\s>*_`~\[\]\\]*")
        """Finds the query in Markdown, and ignores marks that are not shown."""
        self.reach = 4 * len(text) + 64
        """The number of characters that are searched beyond the end of a chunk. No match is longer."""
        pieces = re.findall(r"[0-9A-Za-z_]+", text)
        self.needles = frozenset((piece if self._is_exact else piece.lower()).encode() for piece in pieces)
        """The ASCII words of the query. The bytes of a matching line contain them, unless it escapes them."""
        self._may_be_code_point = any(map(_CODE_POINT.fullmatch, pieces))

    def pattern_in(self, kind: Kind) -> re.Pattern[str]:
        """Return the pattern for the text of an entry of this kind."""
        return self.markdown_pattern if kind is Kind.ANSWER else self.pattern

    def shown_pattern(self) -> re.Pattern[str]:
        """Return a pattern for wrapped lines, where a line break may be inside a long word."""
        wrap = r"(?:[^\S\n]*\n[\s▌]*)?"
        return self._compiled([wrap.join(map(re.escape, word)) for word in self.words], r"[\s▌]+")

    def missing(self, needles: frozenset[bytes], data: bytes) -> frozenset[bytes]:
        """Return the needles that a piece of a line does not contain.

        The result is empty if the missing needles may be written as escapes. The line must then be decoded.
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
    """Return a pattern for a word that allows `marks` before and after punctuation and non-ASCII characters.

    ASCII characters match only themselves. Otherwise `k` would match the Kelvin sign, which the search
    through the raw bytes does not find.
    """
    pieces = re.findall(r"[0-9A-Za-z]+|[^0-9A-Za-z]", word)
    return marks.join(f"(?a:{re.escape(piece)})" if piece.isascii() else re.escape(piece) for piece in pieces)
