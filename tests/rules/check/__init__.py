"""Tests of the checks of sessions by rules."""
