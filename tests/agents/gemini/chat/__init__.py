"""Tests of the decoder of Gemini's chat files."""
