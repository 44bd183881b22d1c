"""Tests of what happened between two moments of a session."""
