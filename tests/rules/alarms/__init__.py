"""Tests of the rules that watch a session."""
