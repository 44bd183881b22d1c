"""Tests of the markers of a session."""
