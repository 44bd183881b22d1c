"""Tests of rendered Markdown and code."""
