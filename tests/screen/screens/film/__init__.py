"""Tests of films of the screen."""
