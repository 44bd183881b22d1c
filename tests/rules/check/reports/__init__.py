"""Tests of the reports of a check."""
