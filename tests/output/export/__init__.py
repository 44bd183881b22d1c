"""Tests of agentwatch.output.export."""
