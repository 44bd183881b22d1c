"""The second, dumb guard: what is drawn, by whichever widget, holds no control and no live link."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from agentwatch.safe_text import SafeText, columns, safe_line

_ASCII = {
    **dict.fromkeys("│┃║▏▎▍▌▋▊▉", "|"),
    **dict.fromkeys("─━═▁▔⎯", "-"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╞╡╪", "+"),
    **dict.fromkeys("▂▃▄▅▆▇█", "#"),
    "✓": "v",
    "✗": "x",
    "⊘": "/",
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
    """Looks at each piece of text on its way to the terminal.

    Text of ours that went through `safe_text` passes unchanged; nothing else should come here, and what
    does comes out safe. Without colours, no piece keeps one; where the terminal's encoding has no Unicode,
    frames and signs are drawn with what ASCII has for them.
    """

    def __init__(self, *, no_color: bool, ascii_only: bool = False) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._no_color = no_color

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's
        """Return the pieces that may be drawn."""
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
    """Return what stands for a character in ASCII, in as many columns."""
    return char if char.isascii() else _ASCII.get(char, "?" * columns(SafeText(char)))
