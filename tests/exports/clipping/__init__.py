"""Tests of clips."""
