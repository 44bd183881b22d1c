"""Tests of panes of lines."""
