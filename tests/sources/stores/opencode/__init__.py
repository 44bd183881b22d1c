"""Tests of the stored sessions of opencode."""
