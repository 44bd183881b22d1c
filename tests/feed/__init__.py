"""Tests of the feed: joined lines, replay timing and the list of sessions."""
