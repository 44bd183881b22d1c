"""Tests of the files of a recording."""
