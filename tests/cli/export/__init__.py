"""Tests of the commands that write a session for others."""
