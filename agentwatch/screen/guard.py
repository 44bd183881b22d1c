"""The second, dumb guard: what is drawn, by whichever widget, holds no control and no live link."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from agentwatch.safe_text import safe_line


class Guard(LineFilter):
    """Looks at each piece of text on its way to the terminal.

    Text of ours that went through `safe_text` passes unchanged; nothing else should come here, and what
    does comes out safe. Without colours, no piece keeps one.
    """

    def __init__(self, *, no_color: bool) -> None:
        super().__init__()
        self._no_color = no_color

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's
        """Return the pieces that may be drawn."""
        return [self._passed(segment) for segment in segments]

    def _passed(self, segment: Segment) -> Segment:
        text, style, _ = segment
        if not (text.isascii() and text.isprintable()):
            text = safe_line(text)
        if style is not None:
            if style.link:
                style = style.update_link(None)
            if self._no_color:
                style = style.without_color
        return Segment(text, style)
