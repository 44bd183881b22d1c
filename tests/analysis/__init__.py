"""Tests of the analysis of a session."""
