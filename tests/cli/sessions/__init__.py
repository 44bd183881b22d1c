"""Tests of the command `sessions`."""
