"""Tests of `agentwatch.analysis.call_fields`."""
