"""Tests of `agentwatch.rules.language`."""
