"""Tests of the feed: joined lines, replay timing and earlier moments."""
