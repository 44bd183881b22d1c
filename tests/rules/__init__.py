"""Tests of `agentwatch.rules`."""
