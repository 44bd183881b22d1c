"""Tests of the reports of a comparison."""
