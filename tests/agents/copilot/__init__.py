"""Tests of Copilot's format."""
