"""Tests of trouble in episodes."""
