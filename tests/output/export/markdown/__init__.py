"""Tests of the export to Markdown."""
