"""Tests of the command `stats`."""
