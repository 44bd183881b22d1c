"""Tests of trajectories."""
