"""A minimal Textual app with one Static, as the baseline for the time to the first glyph."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static


class OneStatic(App[None]):
    """An app that shows one word."""

    def compose(self) -> ComposeResult:
        """Yield the widget with the word."""
        yield Static("glyph")


if __name__ == "__main__":
    OneStatic().run()
