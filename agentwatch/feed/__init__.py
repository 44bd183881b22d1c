"""The feed, which decodes the lines of a recording and applies them to a session; the list of saved sessions.

This folder may import `recording`, `wire`, `session`, `blocks`, `events` and `text`.
"""
