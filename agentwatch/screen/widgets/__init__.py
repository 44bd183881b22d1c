"""Scrolling panes that are drawn one line at a time, and their styles and formats.

Within the screen, this folder may import only `terminal`.
"""
