"""Interprets the bytes that a command writes to its terminal as rows of text, without styles."""

from __future__ import annotations

import re
import unicodedata

from terminal import ESCAPES

_MOVE = re.compile(rb"\x1b\[(\d*);?(\d*)[Hf]")
_TOKEN = re.compile(rb"(?P<escape>" + ESCAPES.pattern + rb")|(?P<text>[^\x00-\x1f\x7f]+)|(?P<control>[\r\n])")
_ALIKE = re.compile(r"[\W_]+")


class Grid:
    """A screen of characters. It supports only the escape sequences that Textual draws with."""

    def __init__(self, columns: int, rows: int) -> None:
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._rest = b""

    def take(self, data: bytes) -> None:
        """Draw bytes. A sequence that is incomplete at their end is kept for the next call."""
        data = self._rest + data
        end = 0
        for token in _TOKEN.finditer(data):
            if token.end() == len(data) and token["text"]:
                break  # it may end inside a character
            end = token.end()
            if token["escape"]:
                self._move(token["escape"])
            elif token["text"]:
                self._write(token["text"].decode("utf-8", "replace"))
            else:
                self._row, self._column = self._row + (token["control"] == b"\n"), 0
        self._rest = data[end:]

    def words(self, first: int, last: int) -> list[str]:
        """Return the letters and digits of some rows; the decoration around them may change."""
        return [_ALIKE.sub(" ", "".join(row)).strip() for row in self._cells[first:last]]

    def _move(self, sequence: bytes) -> None:
        if found := _MOVE.fullmatch(sequence):
            self._row, self._column = int(found[1] or 1) - 1, int(found[2] or 1) - 1

    def _write(self, text: str) -> None:
        for character in text:
            if unicodedata.combining(character):
                continue
            if self._row < len(self._cells) and self._column < len(self._cells[self._row]):
                self._cells[self._row][self._column] = character
            self._column += 2 if unicodedata.east_asian_width(character) in "WF" else 1
