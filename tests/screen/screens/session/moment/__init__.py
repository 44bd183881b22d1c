"""Tests of the moment that the screen shows."""
