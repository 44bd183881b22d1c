"""Exports: a session as a file for other people and programs, redacted unless the user asks otherwise."""
