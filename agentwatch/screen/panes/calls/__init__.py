"""The calls pane."""
