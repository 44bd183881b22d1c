"""Tests of the keys of the whole app."""
