"""The index of all sessions on this machine: their calls in a SQLite database.

`agentwatch sessions --index` fills it from the sessions that `agentwatch sessions` lists. It only repeats
what is in their files, and agentwatch itself does not read it.
"""
