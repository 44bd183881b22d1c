"""Tests of the export formats."""
