"""Tests of the processes of agents."""
