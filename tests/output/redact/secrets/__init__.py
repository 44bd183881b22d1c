"""Tests of the search for secrets: what is found, what is not, and how long it takes."""
