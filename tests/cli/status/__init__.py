"""Tests of the command `status`."""
