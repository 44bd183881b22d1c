"""The output of a command, in its own colours where they are harmless.

The only escape sequence that is honoured is `ESC [ numbers m`, with the 16, 256 and true colours, bold, dim,
italic, underline and reverse. A sequence with anything else in it stays visible as a control picture, as in
safe text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rich.color import Color
from rich.style import Style

from agentwatch.analysis.block_text import bounded, printed
from agentwatch.screen.panes.detail.sections import Output, Section, StyleOf
from agentwatch.screen.widgets.folding import Run
from agentwatch.text.safe import SafeText, exact_text

_SEQUENCE = re.compile(r"\x1b\[([0-9;]{0,40})m")
_ON = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
}
_OFF = {
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False),
    27: Style(reverse=False),
}
_NEAR = 48
"""Text is unreadable if its colour differs from its background by less than this in each of red, green and
blue.
"""
_PLAIN = Style()
_GREY = Color.from_ansi(8)


class ShellOutput(Output):
    """Lines in their own colours; unreadable colours are replaced by those of the pane. `raw` are the same
    lines with their escape sequences. `style_name` is that of text without its own colours."""

    def __init__(self, lines: Sequence[SafeText], raw: Sequence[str], style_name: str, ground: Style) -> None:
        super().__init__(lines, style_name)
        self._raw = raw
        self._ground = ground
        self._begins = [_PLAIN]
        """The style at the beginning of each line, for the lines drawn so far."""

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the colours of a line; they may continue from the lines above."""
        while len(self._begins) <= number:
            self._begins.append(_style_after(self._begins[-1], self._raw[len(self._begins) - 1]))
        runs: list[Run] = []
        ground, grey = self._ground + style_of(self.style_name), style_of("muted").color
        text, at, style = "", 0, self._begins[number]
        raw = self._raw[number]
        for found in [*_harmless(raw), None]:
            piece = exact_text(raw[at : found.start() if found else len(raw)])
            if piece and style != _PLAIN:
                if style.color == _GREY and grey is not None and not grey.is_default:
                    style += Style(color=grey)
                runs.append((len(text), len(text) + len(piece), _readable(style, ground)))
            text += piece
            if found:
                at, style = found.end(), _applied(style, found[1]) or _PLAIN
        # safe text of the pieces may differ from that of the whole: stacked combining marks, a cut-off end
        return runs if self.lines[number].startswith(text) else []


def shell_section(text: str, style_name: str, ground: Style, most: int) -> tuple[Section, int]:
    """Return the first lines of a command's output as a section, and the number of lines left out.
    `style_name` is that of text without its own colours."""
    text = printed(text)
    if "\x1b[" not in text:
        lines, left_out = bounded(text, most)
        return Output(lines, style_name), left_out
    lines, left_out = bounded(_SEQUENCE.sub(_picture, text), most)
    raw = text.rstrip("\n").split("\n")[: len(lines)]
    raw += [""] * (len(lines) - len(raw))
    return ShellOutput(lines, raw, style_name, ground), left_out


def _picture(found: re.Match[str]) -> str:
    """Return an empty string for a sequence that is honoured, and any other sequence unchanged."""
    return found[0] if _applied(_PLAIN, found[1]) is None else ""


def _harmless(raw: str) -> list[re.Match[str]]:
    return [found for found in _SEQUENCE.finditer(raw) if _applied(_PLAIN, found[1]) is not None]


def _style_after(style: Style, raw: str) -> Style:
    for found in _harmless(raw) if "\x1b[" in raw else ():
        style = _applied(style, found[1]) or _PLAIN
    return style


@lru_cache(1024)
def _applied(style: Style, numbers: str) -> Style | None:
    """Return a style as changed by a sequence; None if any number in it is not on the whitelist."""
    codes = [int(number or 0) for number in numbers.split(";")]
    at = 0
    while at < len(codes):
        code = codes[at]
        at += 1
        if code == 0:
            style = _PLAIN
        elif code in _ON or code in _OFF:
            style += _ON.get(code) or _OFF[code]
        elif code in {38, 48}:
            colour, used = _extended(codes[at:])
            if colour is None:
                return None
            style += Style(color=colour) if code == 38 else Style(bgcolor=colour)
            at += used
        elif code in {39, 49}:
            style = _without(style, is_text=code == 39)
        elif (colour := _one_of_16(code)) is not None:
            style += Style(bgcolor=colour) if code in range(40, 48) or code >= 100 else Style(color=colour)
        else:
            return None
    return style


def _one_of_16(code: int) -> Color | None:
    for first, bright in ((30, 0), (40, 0), (90, 8), (100, 8)):
        if first <= code < first + 8:
            return Color.from_ansi(code - first + bright)
    return None


def _extended(codes: Sequence[int]) -> tuple[Color | None, int]:
    """Return the colour that `5;N` or `2;R;G;B` names, and how many numbers it consists of."""
    if len(codes) >= 2 and codes[0] == 5 and codes[1] < 256:
        return Color.from_ansi(codes[1]), 2
    if len(codes) >= 4 and codes[0] == 2 and max(codes[1:4]) < 256:
        return Color.from_rgb(*codes[1:4]), 4
    return None, 0


def _without(style: Style, *, is_text: bool) -> Style:
    """Return a style without its text colour, or without its background colour."""
    return Style(
        color=None if is_text else style.color,
        bgcolor=style.bgcolor if is_text else None,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
    )


def _readable(style: Style, ground: Style) -> Style:
    """Return a style without its colours if they would make the text unreadable."""
    text, under = style.color or ground.color, style.bgcolor or ground.bgcolor
    if text is None or under is None or text.is_default or under.is_default:
        return style
    pairs = zip(text.get_truecolor(), under.get_truecolor(foreground=False), strict=True)
    if max(abs(one - other) for one, other in pairs) < _NEAR:
        return _without(_without(style, is_text=True), is_text=False)
    return style
