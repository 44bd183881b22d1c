"""Tests of the screen, headless: single panes, and the whole app driven by a pilot."""
