"""Tests of the session: calls, runs, transcript and counts."""
