"""Builders of lines, sessions and screens for the tests."""
