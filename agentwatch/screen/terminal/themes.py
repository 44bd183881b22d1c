"""The colour themes that the user can choose."""

from __future__ import annotations

from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

ANSI_THEMES = (
    replace(BUILTIN_THEMES["ansi-dark"], accent="ansi_cyan"),
    replace(BUILTIN_THEMES["ansi-light"], accent="ansi_blue", warning="ansi_magenta"),
)
"""The themes of the terminal's sixteen colours.

In Textual's dark one, accent and success are both green. In a light one, a warning is neither yellow, which
cannot be read on white, nor a second red.
"""


def theme_names() -> list[str]:
    """Return the names of all themes, sorted."""
    return sorted(BUILTIN_THEMES)


def muted(theme: Theme) -> str:
    """Return the style of text that matters less: the terminal's own colours can only be dimmed."""
    return "dim" if theme.ansi else "$foreground-muted"
