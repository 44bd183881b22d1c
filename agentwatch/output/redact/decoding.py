"""Removes what hides a value in a text: percent escapes, entities of HTML, escapes of Markdown, colours,
letters without a glyph.

The text with them is searched too: an escape belongs to a value as it is written, and the character that it
stands for shows where a value begins and ends. A letter of a flag is the one that `safe_text` draws.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from agentwatch.text.safe import UNSEEN

_SEQUENCE = r"(?:\[[0-9;:?]{0,40}[A-Za-z]|\([A-Z0-9]|\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\))"
_WRITTEN = r"\\(?:[xX]1[bB]|u001[bB]|u\{1[bB]\}|0?33|e)"
"""ESC as it is written in code."""
_COLOUR = re.compile(rf"\x1b{_SEQUENCE}(?:\x1b{_SEQUENCE}){{0,29}}")
_COLOUR_IN_CODE = re.compile(rf"{_WRITTEN}{_SEQUENCE}(?:{_WRITTEN}{_SEQUENCE}){{0,29}}")
_COLOUR_OF_CAT = re.compile(rf"\^\[{_SEQUENCE}(?:\^\[{_SEQUENCE}){{0,29}}")
_COLOUR_AS_SYMBOL = re.compile(f"\u241b{_SEQUENCE}(?:\u241b{_SEQUENCE}){{0,29}}")
_COLOURS = (
    ("\x1b", ("\x1b",), _COLOUR),
    ("\\", ("\\x1", "\\X1", "\\u001", "\\u{1", "\\033", "\\33", "\\e["), _COLOUR_IN_CODE),
    ("^", ("^[[",), _COLOUR_OF_CAT),
    ("\u241b", ("\u241b",), _COLOUR_AS_SYMBOL),
)
"""The patterns of colours. A text has such colours only if it contains the character and one of the literals,
which are searched first because that is fast."""
_ENTITIES = (
    "quot|amp|apos|lt|gt|nbsp|sol|colon|equals|num|dollar|percnt|excl|comma|semi|lowbar|period|plus|commat"
    "|quest|ast"
)
_PERCENT = re.compile(
    r"%(?:25){0,3}(?:[2-7][0-9A-Fa-f]|0[9AaDd]|[C-Fc-f][0-9A-Fa-f](?:%(?:25){0,3}[89ABab][0-9A-Fa-f]){1,3})"
)
_ENTITY = re.compile(rf"&(?:amp;){{0,3}}(?:{_ENTITIES}|#[0-9]{{1,7}}|#[xX][0-9A-Fa-f]{{1,6}});")
_UNSEEN_RUN = re.compile(f"[{UNSEEN}\U0001f1e6-\U0001f1ff]{{1,30}}")
_MARKDOWN = re.compile(r"\\[_*~]")
_SPACES = ("\\n", "\\r", "\\t")
"""Line ends and tabs as they are written in JSON."""
_MOST_LINE = 1 << 12
"""The characters on each side of an escape that are searched with it, if its line is longer."""


class Decoded(NamedTuple):
    """The lines of a text that have escapes, without them."""

    text: str
    starts: list[int]
    """The beginnings of the parts of `text`; a part is an escape, or the text between two escapes."""
    sources: list[tuple[int, int, bool]]
    """The start and the end of each part in the text with escapes, and whether it is an escape."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        part = bisect_right(self.starts, at) - 1
        first, last, is_escape = self.sources[part]
        if is_escape:
            return first, last
        source = first + at - self.starts[part]
        return source, source + 1


def decoded(text: str) -> Decoded | None:
    """Return the lines of a text that have escapes, without these; None if there are none."""
    found: list[tuple[int, int, str]] = []
    for sign, pattern in (("%", _PERCENT), ("&", _ENTITY), ("\\", _MARKDOWN)):
        if sign in text:
            found += [(*match.span(), _meaning(match[0])) for match in pattern.finditer(text)]
    for pattern in colours(text):
        found += _hiding(text, pattern)
    if not text.isascii():
        found += _hiding(text, _UNSEEN_RUN)
    return rewritten(text, sorted(found)) if found else None


def _hiding(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the colours and the letters without a glyph that hide something: not those between words."""
    size = len(text)
    for match in pattern.finditer(text):
        start, end = match.span()
        if start == 0 or end == size or text[start - 1].isspace() or text[end].isspace():
            continue
        if not text.endswith(_SPACES, 0, start) and not text.startswith(_SPACES, end):
            yield start, end, _meaning(match[0])


@lru_cache(maxsize=8)
def colours(text: str) -> list[re.Pattern[str]]:
    """Return the patterns of the colours that a text may have. The same text is asked for twice."""
    return [
        pattern
        for first, literals, pattern in _COLOURS
        if first in text and any(literal in text for literal in literals)
    ]


def rewritten(text: str, changes: Sequence[tuple[int, int, str]]) -> Decoded:
    """Return the changed lines of a text, each with its replacements `(start, end, replacement)` in order."""
    parts: list[str] = []
    starts: list[int] = []
    sources: list[tuple[int, int, bool]] = []
    size = 0

    def add(part: str, start: int, end: int, *, is_escape: bool) -> None:
        nonlocal size
        if part:
            parts.append(part)
            starts.append(size)
            sources.append((start, end, is_escape))
            size += len(part)

    number = 0
    for start, end in _lines(text, changes):
        at = start
        while number < len(changes) and changes[number][0] < end:
            first, last, meaning = changes[number]
            add(text[at:first], at, first, is_escape=False)
            add(meaning, first, last, is_escape=True)
            at = last
            number += 1
        add(text[at:end], at, end, is_escape=False)
        add("\n\0\n", end, end, is_escape=True)
    return Decoded("".join(parts), starts, sources)


def plain_value(value: str) -> str:
    for pattern in (*colours(value), _UNSEEN_RUN, _PERCENT, _ENTITY, _MARKDOWN):
        value = pattern.sub(lambda match: _meaning(match[0]), value)
    return value


def _lines(text: str, changes: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each line with a change, or of the part of a long line around them."""
    first = last = line_end = -1
    for start, end, _ in changes:
        if start > last:
            if last >= 0:
                yield first, last
            floor = max(last, start - _MOST_LINE, 0)
            first = max(floor, text.rfind("\n", floor, start) + 1)
        if end > line_end:
            line_end = text.find("\n", end)
            line_end = len(text) if line_end < 0 else line_end
        last = min(line_end, end + _MOST_LINE)
    if last >= 0:
        yield first, last


def _meaning(escape: str) -> str:
    if len(escape) == 2 and escape[0] == "\\":
        return escape[1]
    if escape[0] == "%":
        while "%25" in escape:
            escape = escape.replace("%25", "%")
        try:
            return unquote(escape, errors="strict")
        except UnicodeDecodeError:
            return escape
    if escape[0] == "&":
        while "&amp;" in escape and escape != "&amp;":
            escape = escape.replace("&amp;", "&")
        return html.unescape(escape)
    return "".join(
        chr(ord(char) - 0x1F1E6 + ord("A")) for char in escape if "\U0001f1e6" <= char <= "\U0001f1ff"
    )
