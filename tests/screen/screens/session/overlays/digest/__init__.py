"""Tests of the digest."""
