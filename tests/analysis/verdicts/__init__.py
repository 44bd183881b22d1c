"""Tests of the test verdicts."""
