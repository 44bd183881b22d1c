"""Tests of the history of test runs."""
