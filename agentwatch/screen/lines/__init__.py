"""Panes of lines, drawn a line at a time."""
