"""Tests of Cursor's format."""
