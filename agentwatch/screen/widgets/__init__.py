"""Scrolling panes that are drawn one line at a time, inputs, and their styles and formats."""
