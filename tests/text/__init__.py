"""Tests of how values are written."""
