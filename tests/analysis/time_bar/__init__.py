"""Tests of the time bar's model."""
