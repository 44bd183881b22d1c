"""Tests of the decoder of Goose's stream."""
