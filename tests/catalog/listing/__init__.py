"""Tests of the list of sessions."""
