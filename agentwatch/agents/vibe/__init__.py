"""Mistral Vibe: its stream, and the journal of a session, which have the same entries."""
