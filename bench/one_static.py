"""The least that Textual can do: an app with one Static, the floor that a first glyph is measured against."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static


class OneStatic(App[None]):
    """Shows a word."""

    def compose(self) -> ComposeResult:
        """Lay out the word."""
        yield Static("glyph")


if __name__ == "__main__":
    OneStatic().run()
