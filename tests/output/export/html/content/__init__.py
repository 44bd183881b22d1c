"""Tests of the nodes that the contents of a page become."""
