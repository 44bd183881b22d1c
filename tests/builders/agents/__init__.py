"""Builders of the sessions of other agents."""
