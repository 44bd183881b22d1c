"""Tests of the calls pane and the action log pane."""
