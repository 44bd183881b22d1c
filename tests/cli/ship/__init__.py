"""Tests of the command `ship`."""
