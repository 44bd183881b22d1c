"""Tests of `agentwatch.rules.calls`."""
