"""The colour themes that the user can choose, and the colours of terminals that have few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

from rich.color import Color, ColorType
from rich.style import Style
from textual.color import BLACK, WHITE
from textual.color import Color as Shade
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


_LEAST_CONTRAST = 4.5
"""Minimum contrast ratio of text (WCAG 2.2, 1.4.3)."""
_HEADER = 0.08
"""The share of the foreground in the ground of a header or a bar."""
_CHOSEN = (0.25, 0.22, 0.19, 0.16)
"""The share of the accent in the ground of the selected row: the greatest on which all texts can be read."""
_CHANGED = 0.2
"""The share of a colour in the ground of a verdict or a changed line, which have texts of the same colour."""
_COLOURED = ("primary", "accent", "success", "warning", "error")


def readable(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a theme, with texts that have enough contrast with every ground on which they
    are. Textual mutes a text to 60 %, whatever the theme, which is a contrast of 2.3 in a light one."""
    names = ("background", "surface", "foreground", *_COLOURED)
    colours = {name: Shade.parse(variables[name]) for name in names}
    foreground, accent = colours["foreground"], colours["accent"]
    bases = (colours["background"], colours["surface"])
    grounds = [bases[0].blend(foreground, _HEADER, 1), *bases]
    grounds += [base.blend(accent, _CHOSEN[-1], 1) for base in bases]
    muted = readable_on(bases[0].blend(foreground, 0.6, 1), *grounds)
    texts = {"text-muted": muted, "foreground": readable_on(foreground, *grounds)}
    for name in _COLOURED:
        changed = bases[0].blend(colours[name], _CHANGED, 1)
        texts[f"text-{name}"] = readable_on(Shade.parse(variables[f"text-{name}"]), *grounds, changed)
    shares = (
        share
        for share in _CHOSEN
        if all(can_read(text, base.blend(accent, share, 1)) for base in bases for text in texts.values())
    )
    texts |= {"foreground-muted": muted, "text-disabled": muted}
    texts["block-cursor-blurred-background"] = accent.with_alpha(next(shares, _CHOSEN[-1]))
    texts["block-cursor-foreground"] = max(BLACK, WHITE, key=partial(_contrast, colours["primary"]))
    return {**variables, **{name: shade.hex for name, shade in texts.items()}}


def readable_on(colour: Shade, *grounds: Shade) -> Shade:
    """Return the nearest shade of a colour that can be read on all of these grounds, else black or white."""
    far = WHITE if _luminance(grounds[0]) < 0.18 else BLACK
    shades = (colour.blend(far, share / 20, 1) for share in range(20))
    return next((shade for shade in shades if all(can_read(shade, ground) for ground in grounds)), far)


def can_read(text: Shade, ground: Shade) -> bool:
    return _contrast(text, ground) >= _LEAST_CONTRAST


def _contrast(one: Shade, other: Shade) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG 2.2 defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Shade) -> float:
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


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
