"""Tests of what the detail shows of a call."""
