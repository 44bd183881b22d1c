"""A last line filter, independent of `safe_text`, against control characters and live links."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from agentwatch.text.safe import SafeText, columns, safe_line

_ASCII = {
    **dict.fromkeys("│┃║▏▎▍▌▐▋▊▉▕‖", "|"),
    **dict.fromkeys("─━═▁▔⎯", "-"),
    "╌": ".",
    "◈": "#",
    "⊗": "@",
    "◀": "<",
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╞╡╪", "+"),
    **dict.fromkeys("▂▃▄▅▆▇█", "#"),
    "✓": "v",
    "✗": "x",
    "⊘": "/",
    "↵": "<",
    "◌": "o",
    "◐": "*",
    "○": "o",
    "·": ".",
    "…": "~",
    "›": ">",
    "–": "-",
    "▾": "v",
    "▸": ">",
    "▶": ">",
    "●": "*",
    "•": "*",
    "×": "x",
    "−": "-",
    "≠": "!",
    "↑": "^",
    "↓": "v",
}


class Guard(LineFilter):
    """Checks each piece of text on its way to the terminal, whichever widget drew it.

    Text that went through `safe_text` passes unchanged. All other text is made safe here. Without colours,
    every colour is removed. If the terminal's encoding is not Unicode, borders and signs are replaced by
    ASCII characters.
    """

    def __init__(self, *, no_color: bool, ascii_only: bool = False) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._no_color = no_color

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's signature
        """Return the pieces, made safe."""
        return [self._passed(segment) for segment in segments]

    def _passed(self, segment: Segment) -> Segment:
        text, style, _ = segment
        if not (text.isascii() and text.isprintable()):
            text = safe_line(text)
            if self._ascii_only:
                text = "".join(map(_in_ascii, text))
        if style is not None:
            if style.link:
                style = style.update_link(None)
            if self._no_color:
                style = style.without_color
        return Segment(text, style)


def _in_ascii(char: str) -> str:
    """Return an ASCII replacement for a character, of the same width in columns."""
    return char if char.isascii() else _ASCII.get(char, "?" * columns(SafeText(char)))
