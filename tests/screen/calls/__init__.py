"""Tests of the table of calls."""
