"""Tests of the list of sessions on a real terminal."""
