"""Tests of the comparison of two runs on the screen."""
