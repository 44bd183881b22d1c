"""Scrolling panes of lines that are drawn one line at a time, and their styles and formats."""
