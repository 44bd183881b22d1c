"""Tests of the panes that are drawn one line at a time."""
