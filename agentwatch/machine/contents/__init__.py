"""Finds words in the contents of sessions: what was said, what calls were given, and what they returned."""
