"""Tests of the digest of a session."""
