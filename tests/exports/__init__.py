"""Tests of agentwatch.exports."""
