"""The printed formats (text, stream-json, summary) and the action log. Each is a function of a recording.

This folder may import `feed`, `session`, `analysis`, `actions`, `events`, `recording` and
`text`.
"""
