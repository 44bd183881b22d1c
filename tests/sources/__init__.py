"""Tests of the sources: the pipe, the started agent, saved files."""
