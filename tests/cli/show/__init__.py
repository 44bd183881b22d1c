"""Tests of the command `show`."""
