"""What a session means: integrity, silence, status, loops, files, the time breakdown, and search.

It may import `session`, `feed`, `events`, `actions` and `safe_text`; it knows no agent and no screen.
"""
