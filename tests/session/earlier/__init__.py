"""Tests of the session at an earlier line."""
