"""The table of calls."""
