"""Tests of the exported page, as a file: its markup, its policy, its contents."""
