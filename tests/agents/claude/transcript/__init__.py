"""Tests of the transcripts of Claude Code."""
