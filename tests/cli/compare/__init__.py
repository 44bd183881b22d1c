"""Tests of the command `compare`."""
