"""Tests of the panes at an earlier moment."""
