"""Tests of the statistics over the index."""
