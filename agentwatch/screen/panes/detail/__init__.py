"""The detail pane: the arguments and the result of the selected call."""
