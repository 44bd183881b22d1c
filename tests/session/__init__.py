"""Tests of what is true of a session."""
