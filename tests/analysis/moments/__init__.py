"""Tests of the words for a moment."""
