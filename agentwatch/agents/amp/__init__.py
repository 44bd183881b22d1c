"""Amp: its stream, whose grammar is Claude Code's, and its tools."""
