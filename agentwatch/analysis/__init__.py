"""The analysis of a session: status, silence, time, files, verdicts, episodes, integrity, moments and search.

It reads `session`, `feed` and `recording`, and depends on neither an agent nor the screen.
"""
