"""The calls of a session: one call, the store of all calls, their ids, and their counts by outcome."""
