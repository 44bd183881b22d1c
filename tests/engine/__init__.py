"""Tests of agentwatch/engine/."""
