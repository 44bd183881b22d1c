"""Tests of the formats that other packages provide."""
