"""Compares the sessions of two runs, or of several runs a side.

The calls of two runs are aligned by tool and target. The package shows nothing itself: `reports` writes a
comparison as text, JSON, Markdown and HTML.
"""
