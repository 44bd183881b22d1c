"""The output of a command: its colours become classes, and its other escape sequences stay visible."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.exports.html.content.nodes import Node, element, text
from agentwatch.text.safe import safe_text

_SEQUENCE = re.compile(r"\x1b\[([0-9;]{0,40})m")
_MOST_PIECES = 4000
"""Output with more pieces of different colours is shown without colours."""
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_STYLES = {1: "bold", 2: "dim", 3: "italic", 4: "underline"}
_EXTENDED = {38, 48}
_NUMBERS_AFTER = {5: 1, 2: 3}
"""After 38 and 48: `5;N` names one of 256 colours, `2;R;G;B` any colour."""


def output_nodes(foreign: str) -> list[Node]:
    """Return what a command printed as nodes of one preformatted text.

    Of the colours, the 16 that the terminal defines are kept as classes; the page has them in shades that can
    be read. Other colours are dropped.

    Example:
        >>> output_nodes("\\x1b[31m1 failed\\x1b[0m, 4 passed")
        [['span', 'red', '1 failed'], ', 4 passed']
    """
    if "\x1b[" not in foreign:
        return [text(foreign)]
    pieces = [*_pieces(foreign)]
    if len(pieces) > _MOST_PIECES:
        return [text(_SEQUENCE.sub("", foreign))]
    return [element("span", names, piece) if names else piece for piece, names in pieces]


def _pieces(foreign: str) -> Iterator[tuple[str, str]]:
    """Yield pieces of safe text, each with its classes."""
    colour, styles, at = "", set[str](), 0
    for found in _SEQUENCE.finditer(foreign):
        if found.start() > at:
            yield safe_text(foreign[at : found.start()]), " ".join([*filter(None, [colour]), *sorted(styles)])
        at = found.end()
        colour = _applied(found[1], colour, styles)
    if at < len(foreign):
        yield safe_text(foreign[at:]), " ".join([*filter(None, [colour]), *sorted(styles)])


def _applied(numbers: str, colour: str, styles: set[str]) -> str:
    """Apply a sequence to the styles, and return the colour after it."""
    codes = [int(number[:9] or 0) for number in numbers.split(";")]
    at = 0
    while at < len(codes):
        code = codes[at]
        at += 1
        if code == 0:
            colour = ""
            styles.clear()
        elif code in _STYLES:
            styles.add(_STYLES[code])
        elif code == 22:
            styles -= {"bold", "dim"}
        elif code in {23, 24}:
            styles.discard("italic" if code == 23 else "underline")
        elif 30 <= code < 38 or 90 <= code < 98:
            colour = _COLOURS[code % 10]
        elif code == 39:
            colour = ""
        elif code in _EXTENDED and at < len(codes):
            kind, colour = codes[at], "" if code == 38 else colour
            if code == 38 and kind == 5 and at + 1 < len(codes) and codes[at + 1] < 16:
                colour = _COLOURS[codes[at + 1] % 8]
            at += 1 + _NUMBERS_AFTER.get(kind, 0)
    return colour
