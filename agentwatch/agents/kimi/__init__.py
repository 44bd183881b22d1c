"""Kimi Code: its stream, and the journal of a session. Its older program kimi-cli wrote other files."""
