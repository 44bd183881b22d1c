"""Tests of recordings of a terminal."""
