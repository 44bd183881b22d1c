"""Renders Markdown and code in the colours of a pane.

Within the screen, this folder may import only `lines`.
"""
