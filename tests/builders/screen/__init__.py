"""Apps that show a single pane or a single screen."""
