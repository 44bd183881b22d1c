"""Cline: the stream of its program for terminals, and its session files."""
