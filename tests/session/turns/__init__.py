"""Tests of the turns of a run."""
