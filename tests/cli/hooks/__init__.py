"""Tests of the command `hooks`."""
