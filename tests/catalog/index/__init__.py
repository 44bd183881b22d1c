"""The index of all sessions: what is in it, and that it stays valid."""
