"""The terminal that the screen is drawn on."""
