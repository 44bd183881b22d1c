"""Tests of the project itself: imports, package, README."""
