"""Reads the head and the tail of a session for a list, and keeps the digests of those that have ended."""
