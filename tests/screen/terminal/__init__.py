"""Tests of the layer between the screen and the terminal."""
