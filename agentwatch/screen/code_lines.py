"""What a file holds, with the colours of its language; of a long one what is in view, and a little more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax, SyntaxTheme
from textual.cache import LRUCache

from agentwatch.safe_text import SafeText
from agentwatch.screen.sections import Look, Run, Section, number_width

_CHUNK = 64
"""Lines that are coloured together: 3 ms."""
_BEFORE = 32
"""Lines above them that are read as well: what began there, a docstring perhaps, is told right."""
_MOST_COLOURED = 1 << 14
"""Characters; a chunk with more, of a minified file, stays plain: a page of it would take half a second."""
_KEPT_CHUNKS = 32


class CodeLines(Section):
    """Lines of a file, with their numbers."""

    def __init__(
        self, lines: Sequence[SafeText], name: str, *, first_line: int | None = 1, theme: str
    ) -> None:
        """Take the lines of a file, whose name tells its language; None leaves the numbers out."""
        super().__init__(lines)
        self._first = first_line
        self._name = name
        self._theme_name = theme
        self._theme: SyntaxTheme | None = None
        self._lexer: Any = None
        self._runs: LRUCache[int, list[list[Run]]] = LRUCache(_KEPT_CHUNKS)
        if first_line is not None:
            self.gutter = number_width(first_line + len(lines) - 1) + 1

    def mark(self, number: int, look: Look) -> Segment:
        """Return a line's number."""
        return Segment(f"{(self._first or 0) + number:>{self.gutter - 1}} ", look("muted"))

    def runs(self, number: int, look: Look) -> list[Run]:
        """Return the colours of a line."""
        del look
        chunk = self._runs.get(number // _CHUNK)
        if chunk is None:
            chunk = self._runs[number // _CHUNK] = self._coloured(number // _CHUNK * _CHUNK)
        return chunk[number % _CHUNK]

    def _coloured(self, first: int) -> list[list[Run]]:
        """Return the colours of the lines of a chunk."""
        last = min(first + _CHUNK, len(self.lines))
        before = max(first - _BEFORE, 0)
        while before < first and sum(map(len, self.lines[before:last])) > _MOST_COLOURED:
            before = (before + first + 1) // 2
        found: list[list[Run]] = [[]]
        if self._theme is None:
            self._theme, self._lexer = Syntax.get_theme(self._theme_name), _lexer_for(self._name)
        if self._lexer is None or sum(map(len, self.lines[before:last])) > _MOST_COLOURED:
            return [[] for _ in range(first, last)]
        at = 0
        for kind, token in self._lexer.get_tokens("\n".join(self.lines[before:last])):
            style = self._theme.get_style_for_token(kind)
            own = Style(color=style.color, bold=style.bold, italic=style.italic, underline=style.underline)
            for nth, piece in enumerate(token.split("\n")):
                if nth:
                    found.append([])
                    at = 0
                if piece.strip():
                    found[-1].append((at, at + len(piece), own))
                at += len(piece)
        found += [[] for _ in range(last - before - len(found))]
        return found[first - before : last - before]


def _lexer_for(name: str) -> Any:
    """Return what tells the words of a file apart, by its name; None when nothing does."""
    base = name.replace("\\", "/").rpartition("/")[2]
    try:
        return get_lexer_for_filename(base, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
