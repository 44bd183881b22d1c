"""Tests of what is done with the saved sessions of our own."""
