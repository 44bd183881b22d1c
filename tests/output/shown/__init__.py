"""Tests of what `agentwatch show` prints."""
