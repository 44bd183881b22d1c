"""Tests of the detail pane."""
