"""The calls pane and the action log pane."""
