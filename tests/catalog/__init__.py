"""Tests of the sessions of this machine."""
