"""The Textual app that shows a session: four panes under a header and a status line.

It may import every package except `cli`; no other package imports Textual or rich.
"""
