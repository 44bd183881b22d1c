"""Tests of the wire: a module for each agent, and modules for all agents."""
