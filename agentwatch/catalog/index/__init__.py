"""The index of all sessions on this machine: their calls in a SQLite database.

`agentwatch sessions --index` and `agentwatch stats` fill it from the sessions that `agentwatch sessions`
lists. It only repeats their files, and only the statistics read it.
"""
