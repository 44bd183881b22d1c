"""A search query, and a fast check whether the raw bytes of a line may contain it."""

from __future__ import annotations

import re

from agentwatch.session import Kind

_MARKS = "*_`~[]\\"
"""Markdown characters that may occur between two characters of a text and are not shown."""
_MOST_MARKS = 16
_MOST_BLANKS = 64
_MOST_INDENT = 512
"""Limits for what is skipped inside a match, in characters. Without them, and with repetitions that give
characters back, a query such as `**` would take cubic time in a line of asterisks.
"""
_WORD = re.compile(r"[0-9A-Za-z_]+")
_PIECE = re.compile(r"[0-9A-Za-z]+|[^0-9A-Za-z]")
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
        self.pattern = self._compiled(r"\s++".join(_in_order(word) for word in self.words))
        """Finds the query in plain text."""
        marked = [
            _marked_gap(word) * bool(nth) + _in_order(word, _MARKS) for nth, word in enumerate(self.words)
        ]
        self.markdown_pattern = self._compiled("".join(marked))
        """Finds the query in Markdown, and ignores marks that are not shown."""
        self.reach = 4 * len(text) + 64
        """The number of characters that are searched beyond the end of a chunk. No match is longer."""
        pieces = _WORD.findall(text)
        self.needles = frozenset((piece if self._is_exact else piece.lower()).encode() for piece in pieces)
        """The ASCII words of the query. The bytes of a matching line contain them, unless it escapes them."""
        self._may_be_code_point = any(map(_CODE_POINT.fullmatch, pieces))

    def pattern_in(self, kind: Kind) -> re.Pattern[str]:
        """Return the pattern for the text of an entry of this kind."""
        return self.markdown_pattern if kind is Kind.ANSWER else self.pattern

    def shown_pattern(self) -> re.Pattern[str]:
        """Return a pattern for wrapped lines, where a line break may be inside a long word."""
        words: list[str] = []
        for word in self.words:
            gap = _skipped("▌", word[0], most=_MOST_INDENT, blanks=True, least=1) if words else ""
            wraps = (
                rf"(?:[^\S\n]*+\n{_skipped('▌', char, most=_MOST_INDENT, blanks=True)})?{re.escape(char)}"
                for char in word[1:]
            )
            words.append(gap + re.escape(word[0]) + "".join(wraps))
        return self._compiled("".join(words))

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

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, 0 if self._is_exact else re.IGNORECASE)


def _in_order(word: str, marks: str = "") -> str:
    """Return a pattern for a word that allows `marks` before and after punctuation and non-ASCII characters.

    ASCII characters match only themselves. Otherwise `k` would match the Kelvin sign, which the search
    through the raw bytes does not find.
    """
    pattern = ""
    for piece in _PIECE.findall(word):
        gap = _skipped(marks, piece[0]) if marks and pattern else ""
        pattern += gap + (f"(?a:{re.escape(piece)})" if piece.isascii() else re.escape(piece))
    return pattern


def _marked_gap(word: str) -> str:
    """Return a pattern for the white space in Markdown before a word, with list and quote marks in it.

    A word of marks alone ends the gap where it first occurs. Before any other word, the gap extends to the
    last white space, so that `*` of a list item is not taken for the first mark of `**word**`.
    """
    marks = f">{_MARKS}"
    if not word.strip(marks):
        return rf"{_skipped(_MARKS)}\s{_skipped(marks, word[0], most=_MOST_BLANKS, blanks=True)}"
    items = rf"(?:{_skipped(marks)}\s){{0,{_MOST_BLANKS}}}+"
    return rf"{_skipped(_MARKS)}\s{items}{_skipped(marks, word[0])}"


def _skipped(
    chars: str, following: str = "", *, most: int = _MOST_MARKS, blanks: bool = False, least: int = 0
) -> str:
    """Return a pattern for a run of some characters that ends before the character `following`.

    The run never gives characters back, so it costs its own length and no more.

    Args:
        chars: The characters of the run.
        following: The character that the pattern after the run begins with.
        most: The greatest length of the run.
        blanks: Whether white space belongs to the run too.
        least: The least length of the run.
    """
    space = r"\s" if blanks else ""
    return f"[{space}{re.escape(chars.replace(following, '') if following else chars)}]{{{least},{most}}}+"
