"""Tests of the printed formats."""
