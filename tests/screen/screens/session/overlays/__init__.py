"""Tests of the screens and bars that open over the panes."""
