"""Tests of what the formats of files on disk share."""
