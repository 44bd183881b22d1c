"""Tests of the decoder of rollouts."""
