"""The commands that write a session for others: `export`, `redact` and `clip`."""
