"""The printed formats (text, stream-json, summary) and the action log: each a function of a recording.

It may import `feed`, `session`, `analysis`, `actions`, `recording` and `safe_text`.
"""
