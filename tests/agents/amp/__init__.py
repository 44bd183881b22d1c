"""Tests of what Amp adds to the grammar of Claude."""
