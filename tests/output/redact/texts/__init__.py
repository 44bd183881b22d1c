"""Tests of the redaction of texts."""
