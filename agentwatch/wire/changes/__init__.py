"""Reads the ways in which agents describe a change of a file, and returns them as unified diffs."""
