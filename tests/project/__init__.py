"""Tests of the project itself: its imports, its package and its README."""
