"""The styles that the sheet gives the looks of a pane's lines."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget


class LineStyles:
    """Gives the style of a look by its name: `muted` is the sheet's `line--muted`."""

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._styles: dict[str, Style] = {}

    def __call__(self, name: str) -> Style:
        """Return the style that the sheet gives a look: of the colours those that it names."""
        style = self._styles.get(name)
        if style is None:
            component = f"line--{name}"
            named = self._pane.get_component_rich_style(component, partial=True)
            blended = self._pane.get_component_rich_style(component)
            style = named + Style(
                color=blended.color if named.color else None,
                bgcolor=blended.bgcolor if named.bgcolor else None,
            )
            self._styles[name] = style
        return style

    def forget(self) -> None:
        """Take every look anew from the sheet when it is asked for."""
        self._styles.clear()
