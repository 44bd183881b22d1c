"""Tests of the decoder of Gemini's stream."""
