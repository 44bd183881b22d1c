"""Tests of where bytes come from."""
