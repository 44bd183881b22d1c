"""The Textual app that shows a session: four panes below a header and a status line.

This folder may import everything except `cli`. No other folder imports Textual or rich.
"""
