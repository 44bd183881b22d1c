"""Tests of the goto box."""
