"""Tests of agentwatch/cli/ship/."""
