"""The detail of a call."""
