"""Tests of what the other tests rest on."""
