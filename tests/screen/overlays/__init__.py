"""Tests of what opens over the panes."""
