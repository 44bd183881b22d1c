"""The colour themes that the user can choose."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES


def theme_names() -> list[str]:
    """Return the names of all themes, sorted."""
    return sorted(BUILTIN_THEMES)
