"""Tests of how sessions are found on disk."""
