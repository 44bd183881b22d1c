"""The styles that the stylesheet defines for a pane's lines."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget

from agentwatch.screen.terminal.first_frame import component_style


class LineStyles:
    """Returns the style with a given name: `muted` is `line--muted` in the stylesheet."""

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._styles: dict[str, Style] = {}

    def __call__(self, name: str) -> Style:
        """Return the style with a given name; it sets only the colours that the stylesheet sets for it."""
        style = self._styles.get(name)
        if style is None:
            named, blended = component_style(self._pane, f"line--{name}")
            style = named + Style(
                color=blended.color if named.color else None,
                bgcolor=blended.bgcolor if named.bgcolor else None,
            )
            self._styles[name] = style
        return style

    def forget(self) -> None:
        """Discard all cached styles, so that they are read from the stylesheet again."""
        self._styles.clear()
