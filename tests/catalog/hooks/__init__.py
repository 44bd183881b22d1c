"""Tests of the hooks of agents."""
