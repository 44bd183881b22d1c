"""Tests of the option --on without a screen."""
