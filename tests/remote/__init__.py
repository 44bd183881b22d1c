"""Tests of sessions on other machines."""
