"""The analysis of a session: integrity, silence, status, loops, files, the time breakdown, and search.

This folder may import `session`, `feed`, `recording`, `events`, `blocks`, `actions`, `agent_facts` and
`text`. It does not depend on any agent or on the screen.
"""
