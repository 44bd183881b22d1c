"""Tests of the arguments and results that are found in lines."""
