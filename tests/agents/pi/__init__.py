"""Tests of Pi's formats."""
