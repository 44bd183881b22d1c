"""Tests of the options of the command line."""
