"""Tests of the states of sessions."""
