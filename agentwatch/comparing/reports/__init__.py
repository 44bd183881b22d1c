"""Writes a comparison as text, JSON, Markdown and HTML.

A comparison of two runs, or of several a side, becomes a `Report`: sections in the order in which they are
read. Each format writes the same sections.
"""
