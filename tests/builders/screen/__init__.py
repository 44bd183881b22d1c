"""What shows one pane or one screen alone."""
