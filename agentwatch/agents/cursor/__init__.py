"""Cursor's agent: its stream, its transcripts, and its hooks."""
