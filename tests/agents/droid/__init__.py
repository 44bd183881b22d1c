"""Tests of the decoder of Droid's stream."""
