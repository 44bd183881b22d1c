"""Tests of the readers of changes."""
