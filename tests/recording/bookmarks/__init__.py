"""Tests of the bookmarks beside a recording."""
