"""Tests of the sessions that are kept in a store."""
