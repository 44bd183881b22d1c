"""Tests of the exported page in a real browser."""
