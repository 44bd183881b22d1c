"""Tests of the cells of the calls table."""
