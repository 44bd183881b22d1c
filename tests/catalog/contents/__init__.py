"""Tests of the search in the contents of sessions."""
