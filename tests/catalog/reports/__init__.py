"""Tests of what agents say about their sessions."""
