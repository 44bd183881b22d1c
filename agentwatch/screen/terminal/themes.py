"""The colour themes that the user can choose, and the colours of terminals that have few."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from rich.color import Color, ColorType
from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

ANSI_THEMES = (
    replace(BUILTIN_THEMES["ansi-dark"], accent="ansi_cyan"),
    replace(BUILTIN_THEMES["ansi-light"], accent="ansi_blue", warning="ansi_magenta"),
)
"""The themes of the terminal's sixteen colours. In Textual's dark one, accent and success are both green. In
a light one, a warning is neither yellow, which cannot be read on white, nor a second red."""


def theme_names() -> list[str]:
    return sorted(BUILTIN_THEMES)


def muted(theme: Theme) -> str:
    """Return the style of text that matters less: the terminal's own colours can only be dimmed."""
    return "dim" if theme.ansi else "$foreground-muted"


# A terminal with 256 colours: six levels of each channel, and 24 greys.

_LEVELS = (0, 95, 135, 175, 215, 255)
_MOST_STYLES = 4096
_GREY = 232
"""The number of the first grey; the first of the 216 colours is 16."""


@lru_cache(_MOST_STYLES)
def in_256_colours(style: Style) -> Style:
    """Return a style with the nearest colours that a terminal with 256 colours has. rich rounds each channel
    alone: the dark orange below a selected row becomes olive."""
    colours = (style.color, style.bgcolor)
    return style + Style.from_color(*(colour and _nearest(colour) for colour in colours))


def _nearest(colour: Color) -> Color:
    if colour.type is not ColorType.TRUECOLOR or colour.triplet is None:
        return colour
    wanted = colour.triplet
    levels = [min(range(6), key=lambda level: abs(_LEVELS[level] - part)) for part in wanted]
    grey = max(0, min(23, round((sum(wanted) / 3 - 8) / 10)))
    found = {
        _GREY + grey: [8 + 10 * grey] * 3,
        16 + 36 * levels[0] + 6 * levels[1] + levels[2]: [_LEVELS[level] for level in levels],
    }

    def distance(number: int) -> int:
        return sum((had - part) ** 2 for had, part in zip(found[number], wanted, strict=True))

    return Color.from_ansi(min(found, key=distance))
