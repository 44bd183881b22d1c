"""Tests of the command `check`."""
