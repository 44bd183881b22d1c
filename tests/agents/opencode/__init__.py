"""Tests of opencode's format."""
