"""Tests of the detail."""
