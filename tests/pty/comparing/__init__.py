"""Tests of the comparison of two runs on a real terminal."""
