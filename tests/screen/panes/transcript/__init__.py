"""Tests of the transcript."""
