"""Checks sessions by the user's rules: forbidden calls, facts that must be true at the end, and limits."""
