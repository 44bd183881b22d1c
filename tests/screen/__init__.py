"""The screen, headless: panes alone, and the whole app played by a pilot."""
