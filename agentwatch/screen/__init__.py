"""The Textual app that shows a session: four panes under a header and a status line.

It may import everything but `cli`; nothing else imports Textual or rich.
"""
