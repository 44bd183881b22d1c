"""Tests of the command `completion`."""
