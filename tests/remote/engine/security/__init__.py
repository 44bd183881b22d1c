"""Tests that try to break what publishers, watchers and the network must not be able to do."""
