"""Tests of the index of large recordings."""
